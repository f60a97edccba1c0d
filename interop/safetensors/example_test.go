package safetensors_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"gorgonia.org/tensor"
)

func Example() {
	var file bytes.Buffer
	err := safetensors.Write(&file, &safetensors.File{
		Metadata: map[string]string{"model": "line fit", safetensors.Checksum: ""},
		Tensors: []safetensors.Tensor{
			{Name: "w", Data: tensor.New(tensor.WithShape(2), tensor.WithBacking([]float32{1, 2}))},
			{Name: "step", Data: tensor.New(tensor.FromScalar(int64(200)))},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range r.Infos() {
		fmt.Println(t.Name, t.DType, t.Shape, t.Size)
	}
	step, err := r.Tensor("step")
	fmt.Println(step.Data(), err, r.Verify())

	file.Bytes()[file.Len()-1] ^= 1
	_, err = safetensors.Read(&file)
	fmt.Println(err)
	// Output:
	// step I64 [] 8
	// w F32 [2] 8
	// 200 <nil> <nil>
	// byte 115: the file is damaged: its checksum is 5f434e59…, its metadata say 8de59010…
}
