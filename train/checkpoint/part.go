package checkpoint

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
)

// LoadPart copies the tensors below the folder under of a file to where they stand below
// the folder to of a store, as [tape.Store.CopyFrom] does: with "encoder" and "features",
// encoder/fc/w goes to features/fc/w, and the empty folder is all. It gives the paths
// written, in order. On any error nothing is written.
//
// The file may be any safetensors file whose names the paths are. It is read only in the
// part that is wanted, after its checksum, if it has one.
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
