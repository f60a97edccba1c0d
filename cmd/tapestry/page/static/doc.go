// Package static writes the page as files that any host of files serves, or as one file: its
// engine is WebAssembly, in a worker of the page, and nothing else computes.
package static
