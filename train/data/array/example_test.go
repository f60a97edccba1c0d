package array_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// An archive that numpy.load reads, and back.
func ExampleNewNPZWriter() {
	x := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float32{1, 2, 3, 4}))
	var file bytes.Buffer
	w := array.NewNPZWriter(&file, true)
	if err := w.Write("x", x); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	z, err := array.ReadNPZ("x.npz", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	again, err := z.Array("x")
	fmt.Println(z.Names(), again.Shape(), again.Data(), err)
	// Output: [x] (2, 2) [1 2 3 4] <nil>
}

func ExampleReadNPY() {
	var file bytes.Buffer
	if err := array.WriteNPY(&file, tensor.New(tensor.WithShape(3), tensor.WithBacking([]uint8{0, 128, 255}))); err != nil {
		log.Fatal(err)
	}
	pixels, err := array.ReadNPY("pixels.npy", &file)
	fmt.Println(pixels.Dtype(), pixels.Data(), err)
	// Output: uint8 [0 128 255] <nil>
}
