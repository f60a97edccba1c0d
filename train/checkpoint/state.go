package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// State is the state of a training between two steps.
type State struct {
	Store      *tape.Store       // parameters, states, seed, step and runs
	Position   data.Position     // of the next batch
	Batches    int               // number of batches in an epoch of the data; 0 if unknown
	Data       string            // what data.Describe says of the source; "" if unknown
	Model      Identity          // of what is trained
	Validation *Validation       // nil before the first measurement
	Meta       map[string]string // texts of the user: settings, a vocabulary, a graph
	Path       string            // of the file that it was read from; not written
}

// Validation is the progress of validation and early stopping.
type Validation struct {
	Step    int     // the step after which the model was last measured
	Best    float64 // the smallest value; NaN if none was a number
	At      int     // the step of the best value
	Waiting int     // how many measurements since were not better
}

// wireValidation is Validation as JSON, in which a number may be infinite.
type wireValidation struct {
	Step    int    `json:"step"`
	Best    string `json:"best"`
	At      int    `json:"at"`
	Waiting int    `json:"waiting"`
}

const (
	format  = "tapestry.checkpoint"
	version = "1"
	meta    = "meta." // before the user's keys
)

// whole returns an error if a state lacks what it takes to be written or compared.
func (s *State) whole() error {
	switch {
	case s == nil:
		return errors.New("the state is nil")
	case s.Store == nil:
		return errors.New("the state has no store")
	}
	return nil
}

// encode returns the file of a state. Its tensors share the store's memory.
func (s *State) encode() (*safetensors.File, error) {
	leaves, err := json.Marshal(s.Model.Leaves)
	if err != nil {
		return nil, err
	}
	f := &safetensors.File{Metadata: map[string]string{
		safetensors.Checksum: "",
		"format":             format,
		"version":            version,
		"model":              s.Model.Name,
		"rows":               strconv.Itoa(s.Model.Rows),
		"fingerprint":        s.Model.Fingerprint,
		"leaves":             string(leaves),
		"seed":               strconv.FormatUint(s.Store.Seed(), 10),
		"step":               strconv.FormatUint(s.Store.Step(), 10),
		"runs":               strconv.FormatUint(s.Store.Runs(), 10),
		"epoch":              strconv.Itoa(s.Position.Epoch),
		"batch":              strconv.Itoa(s.Position.Batch),
		"batches":            strconv.Itoa(s.Batches),
	}}
	if s.Model.Sizes.Len() > 0 {
		f.Metadata["sizes"] = s.Model.Sizes.String()
	}
	if s.Model.Lanes > 0 {
		f.Metadata["lanes"] = strconv.Itoa(s.Model.Lanes)
	}
	if s.Data != "" {
		f.Metadata["data"] = s.Data
	}
	if v := s.Validation; v != nil {
		text, err := json.Marshal(wireValidation{v.Step, strconv.FormatFloat(v.Best, 'g', -1, 64), v.At, v.Waiting})
		if err != nil {
			return nil, err
		}
		f.Metadata["validation"] = string(text)
	}
	for key, text := range s.Meta {
		f.Metadata[meta+key] = text
	}
	for _, path := range s.Store.Paths() {
		t, err := s.Store.View(path)
		if err != nil {
			return nil, err
		}
		typ, _ := s.Store.Type(path)
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: path, Data: t, DType: inFile[typ.DType]})
	}
	return f, nil
}

// Load reads a whole checkpoint and checks that it is intact. The error for a damaged file wraps
// safetensors.ErrFormat or safetensors.ErrChecksum, that for another kind of file [ErrForeign].
func Load(path string) (*State, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(path, f)
}

// Read is [Load] for the bytes of a checkpoint that lies elsewhere under a path, as on another
// machine. It reads them to the end.
func Read(r io.Reader, path string) (*State, error) {
	if r == nil {
		return nil, at(path, errors.New("the reader is nil"))
	}
	f, err := safetensors.Read(r)
	if err != nil {
		return nil, at(path, err)
	}
	return decode(path, f)
}

// decode returns the state of the file under a path.
func decode(path string, f *safetensors.File) (*State, error) {
	s, err := Describe(f.Metadata)
	if err != nil {
		return nil, at(path, err)
	}
	if _, ok := f.Metadata[safetensors.Checksum]; !ok {
		return nil, at(path, &safetensors.Error{Offset: -1, Msg: "the checkpoint has no checksum", Err: safetensors.ErrChecksum})
	}
	for _, t := range f.Tensors {
		data, err := asStored(t.Data, t.DType)
		if err == nil {
			err = s.Store.Add(t.Name, data)
		}
		if err != nil {
			return nil, at(path, malformed("%v", err))
		}
	}
	for _, l := range s.Model.Leaves {
		typ, ok := s.Store.Type(l.Path)
		if !ok || !sameType(typ, l.Type) {
			return nil, at(path, malformed("metadata \"leaves\": want a tensor %s of type %v, which the file lacks", l.Path, l.Type))
		}
	}
	s.Path = path
	return s, nil
}

// ErrForeign is wrapped by the error for a safetensors file that is not a checkpoint, or not of a
// version that this package reads.
var ErrForeign = errors.New("not a checkpoint")

func known(metadata map[string]string) error {
	switch got := metadata["format"]; {
	case got != format:
		return fmt.Errorf("%w: metadata \"format\": want %q, got %.60q", ErrForeign, format, got)
	case metadata["version"] != version:
		return fmt.Errorf("%w of this version: metadata \"version\": want %s, got %.60q", ErrForeign, version, metadata["version"])
	}
	return nil
}

// Describe parses the metadata of a checkpoint, which a safetensors.Reader reads without the
// tensors. The store of the state has only seed, step and runs.
func Describe(metadata map[string]string) (*State, error) {
	if err := known(metadata); err != nil {
		return nil, err
	}
	p := &fields{metadata: metadata}
	s := &State{Store: tape.NewStore(nil), Meta: map[string]string{}}
	runs := uint64(0)
	if _, ok := metadata["runs"]; ok { // older files of this version lack it
		runs = p.whole("runs", math.MaxInt64)
	}
	s.Store.Resume(p.whole("seed", math.MaxUint64), p.whole("step", math.MaxInt64), runs)
	s.Position = data.Position{Epoch: p.int("epoch"), Batch: p.int("batch")}
	s.Batches, s.Data = p.int("batches"), metadata["data"]
	s.Model = Identity{Name: metadata["model"], Rows: p.int("rows"), Fingerprint: metadata["fingerprint"]}
	if text, ok := metadata["sizes"]; ok {
		if err := s.Model.Sizes.UnmarshalText([]byte(text)); err != nil && p.err == nil {
			p.err = malformed("metadata \"sizes\": %v", err)
		}
	}
	if _, ok := metadata["lanes"]; ok {
		s.Model.Lanes = p.int("lanes")
	}
	p.json("leaves", &s.Model.Leaves)
	if _, ok := metadata["validation"]; ok {
		var v wireValidation
		p.json("validation", &v)
		best, err := strconv.ParseFloat(v.Best, 64)
		if err != nil && p.err == nil {
			p.err = malformed("metadata \"validation\": want a number as best, got %.60q", v.Best)
		}
		s.Validation = &Validation{v.Step, best, v.At, v.Waiting}
	}
	for key, text := range metadata {
		if name, ok := strings.CutPrefix(key, meta); ok {
			s.Meta[name] = text
		}
	}
	return s, p.err
}

// fields parses metadata and keeps the first error.
type fields struct {
	metadata map[string]string
	err      error
}

func (p *fields) whole(key string, most uint64) uint64 {
	n, err := strconv.ParseUint(p.metadata[key], 10, 64)
	if (err != nil || n > most) && p.err == nil {
		p.err = malformed("metadata %q: want a whole number, got %.60q", key, p.metadata[key])
	}
	return n
}

func (p *fields) int(key string) int { return int(p.whole(key, math.MaxInt)) }

func (p *fields) json(key string, to any) {
	if err := json.Unmarshal([]byte(p.metadata[key]), to); err != nil && p.err == nil {
		p.err = malformed("metadata %q: %v", key, err)
	}
}

func malformed(format string, args ...any) error {
	return &safetensors.Error{Offset: -1, Msg: fmt.Sprintf(format, args...), Err: safetensors.ErrFormat}
}

// at adds the name of the file to an error.
func at(path string, err error) error {
	var e *safetensors.Error
	if errors.As(err, &e) {
		e.File = path
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// sameType reports whether a program may use one for the other. Names of axes do not count.
func sameType(a, b graph.Type) bool { return a.DType == b.DType && a.Shape.SameSizes(b.Shape) }

// Keys returns the sorted names of the texts in Meta.
func (s *State) Keys() []string { return slices.Sorted(maps.Keys(s.Meta)) }
