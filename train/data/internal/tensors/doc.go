// Package tensors handles arrays whose first axis is the rows of a data set.
package tensors
