package onnx

import (
	"io"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/exporter"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// beside is the number of bytes from which on the elements of an array lie beside the model.
const beside = 1 << 10

// ExternalData writes parameters, states and constants of 1 KiB or more to a file of their own, of the
// given name in the folder of the model. A model of 2 GiB or more can be written in no other way.
func ExternalData(file io.Writer, name string) Option {
	return func(c *exporter.Config) { c.External = &format.External{File: file, Name: name, Over: beside - 1} }
}
