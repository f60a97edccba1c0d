package nn

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/ops"
)

// Receptive describes which part of the input an output of a stack of layers sees, along one axis:
// output i depends on the Size elements of the input from i·Stride + Offset on, as far as they lie
// in the array (the notes on receptive fields).
type Receptive struct {
	Layer  ops.Sliding // the last layer of the stack
	Size   int
	Stride int
	Offset int // negative where padding comes first
}

// Receptives lists the receptive field after each layer of a stack.
type Receptives []Receptive

// ReceptiveField returns the receptive field after each of the layers, listed from the input on,
// along their first spatial axes. [ops.Windows] makes one window of the options of a layer.
// With J the product of the strides of all layers before,
//
//	Size += D·(K−1)·J,  Offset −= P·J,  Stride = S·J
//
// so it grows linearly with the number of layers, and exponentially with strides.
func ReceptiveField(layers ...ops.Window) Receptives {
	at := Receptive{Size: 1, Stride: 1}
	out := make(Receptives, len(layers))
	for i, w := range layers {
		w := w.Sliding(0)
		at.Layer = w
		at.Size += w.Dilation * (w.Size - 1) * at.Stride
		at.Offset -= w.Before * at.Stride
		at.Stride *= w.Stride
		out[i] = at
	}
	return out
}

// String returns a table with a line for each layer.
func (r Receptives) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%5s  %6s %6s %7s %8s  %5s %6s %6s\n", "layer", "window", "stride", "padding", "dilation", "field", "stride", "offset")
	for i, f := range r {
		w := f.Layer
		fmt.Fprintf(&b, "%5d  %6d %6d %7d %8d  %5d %6d %6d\n", i+1, w.Size, w.Stride, w.Before, w.Dilation, f.Size, f.Stride, f.Offset)
	}
	return b.String()
}
