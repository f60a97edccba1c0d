package checkpoint

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
)

// LoadPart copies the tensors of a file whose paths begin with the folder under into a store, below
// the folder to, as [tape.Store.CopyFrom] does. For "encoder" and "features", encoder/fc/w becomes
// features/fc/w; an empty under means all tensors. It returns the paths written, in order. On any
// error nothing is written.
//
// The file may be any safetensors file that names tensors by their paths. Only the wanted part is
// read, after the checksum, if there is one, was checked. Tensors of f16 and bf16 become f32, those
// of i8 and u8 i32, unless the store has the type of the file at their place.
func LoadPart(path string, into *tape.Store, under, to string) ([]string, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, ok := r.Metadata()[safetensors.Checksum]; ok {
		if err := r.Verify(); err != nil {
			return nil, err
		}
	}
	part := tape.NewStore(nil)
	for _, info := range r.Infos() {
		if under != "" && info.Name != under && !strings.HasPrefix(info.Name, under+"/") {
			continue
		}
		t, err := r.Tensor(info.Name)
		if err != nil {
			return nil, err
		}
		place := strings.Trim(to+"/"+strings.TrimPrefix(strings.TrimPrefix(info.Name, under), "/"), "/")
		if into != nil {
			if typ, there := into.Type(place); there && inFile[typ.DType] == info.DType {
				t, err = asStored(t, info.DType)
			}
		}
		if err != nil {
			return nil, at(path, err)
		}
		if err := part.Add(info.Name, t); err != nil {
			return nil, at(path, err)
		}
	}
	if len(part.Paths()) == 0 {
		return nil, fmt.Errorf("%s: nothing below %q: it has %q", path, under, names(r.Infos()))
	}
	paths, err := into.CopyFrom(part, under, to)
	if err != nil {
		return nil, at(path, err)
	}
	return paths, nil
}

func names(infos []safetensors.Info) []string {
	out := make([]string, len(infos))
	for i, info := range infos {
		out[i] = info.Name
	}
	return out
}
