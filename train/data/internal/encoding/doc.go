// Package encoding turns the bytes of .npy and IDX files into tensors, and tensors into bytes.
package encoding
