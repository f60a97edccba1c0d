//go:build onnxruntime && (linux || darwin || windows) && (amd64 || arm64)

package onnxruntime

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"
)

// native is a session of the library.
type native struct {
	lib     *library
	session uintptr
	inputs  []ValueInfo
	outputs []ValueInfo
	// The names again, as C strings.
	inputNames, outputNames [][]byte
}

// session makes a session of a model, or of the file at path.
func (l *library) session(model []byte, path string, o Options) (*native, error) {
	options := new(uintptr)
	if err := l.failed(l.createSessionOptions(options)); err != nil {
		return nil, err
	}
	defer l.releaseSessionOptions(*options)
	if o.Threads > 0 {
		if err := l.failed(l.setThreads(*options, int32(o.Threads))); err != nil {
			return nil, err
		}
	}
	if o.AsWritten {
		if err := l.failed(l.setOptimisation(*options, optimiseNone)); err != nil {
			return nil, err
		}
	}
	s, out := &native{lib: l}, new(uintptr)
	var status uintptr
	if path != "" {
		name, err := pathOf(path)
		if err != nil {
			return nil, fmt.Errorf("onnxruntime: %q is no name of a file: %w", path, err)
		}
		status = l.createSession(l.env, name, *options, out)
	} else {
		status = l.createSessionFrom(l.env, unsafe.Pointer(&model[0]), uintptr(len(model)), *options, out)
	}
	if err := l.failed(status); err != nil {
		return nil, err
	}
	s.session = *out
	return s, nil
}

// values describes the inputs and the outputs.
func (s *native) values() (inputs, outputs []ValueInfo, err error) {
	var lists [3][]ValueInfo
	for kind := range lists {
		n := new(uintptr)
		if err := s.lib.failed(s.lib.count[kind](s.session, n)); err != nil {
			return nil, nil, err
		}
		for i := range *n {
			v, err := s.value(kind, i)
			if err != nil {
				return nil, nil, err
			}
			lists[kind] = append(lists[kind], v)
		}
	}
	s.inputs, s.outputs = append(lists[0], lists[2]...), lists[1]
	for _, v := range s.inputs {
		s.inputNames = append(s.inputNames, append([]byte(v.Name), 0))
	}
	for _, v := range s.outputs {
		s.outputNames = append(s.outputNames, append([]byte(v.Name), 0))
	}
	return s.inputs, s.outputs, nil
}

// metadata returns an entry of the model's metadata, "" if there is none.
func (s *native) metadata(key string) (string, error) {
	l := s.lib
	all, text := new(uintptr), new(unsafe.Pointer)
	if err := l.failed(l.getMetadata(s.session, all)); err != nil {
		return "", err
	}
	defer l.releaseMetadata(*all)
	if err := l.failed(l.lookUp(*all, l.allocator, key, text)); err != nil || *text == nil {
		return "", err
	}
	return l.text(*text)
}

// value describes the value at a place among those of a kind.
func (s *native) value(kind int, place uintptr) (ValueInfo, error) {
	l := s.lib
	v := ValueInfo{Optional: kind == 2}
	name, info := new(unsafe.Pointer), new(uintptr)
	if err := l.failed(l.nameOf[kind](s.session, place, l.allocator, name)); err != nil {
		return v, err
	}
	var err error
	if v.Name, err = l.text(*name); err != nil {
		return v, err
	}
	if err := l.failed(l.typeOf[kind](s.session, place, info)); err != nil {
		return v, err
	}
	defer l.releaseTypeInfo(*info)
	is, shape := new(int32), new(uintptr)
	if err := l.failed(l.getONNXType(*info, is)); err != nil || *is != onnxTensor {
		return v, err
	}
	if err := l.failed(l.castToTensorInfo(*info, shape)); err != nil { // a part of info
		return v, err
	}
	var sizes []int64
	if v.Type, sizes, err = l.shape(*shape); err != nil {
		return v, err
	}
	symbols := make([]unsafe.Pointer, len(sizes)+1)
	if err := l.failed(l.getSymbols(*shape, &symbols[0], uintptr(len(sizes)))); err != nil {
		return v, err
	}
	for i, n := range sizes {
		d := Dim{Size: int(n)}
		if symbols[i] != nil {
			d.Symbol = stringAt(symbols[i])
		}
		v.Dims = append(v.Dims, d)
	}
	return v, nil
}

// shape reads an OrtTensorTypeAndShapeInfo.
func (l *library) shape(info uintptr) (ElementType, []int64, error) {
	elements, rank := new(int32), new(uintptr)
	if err := l.failed(l.getElementType(info, elements)); err != nil {
		return 0, nil, err
	}
	if err := l.failed(l.getRank(info, rank)); err != nil {
		return 0, nil, err
	}
	sizes := make([]int64, *rank+1)
	if err := l.failed(l.getDims(info, &sizes[0], *rank)); err != nil {
		return 0, nil, err
	}
	return ElementType(*elements), sizes[:*rank], nil
}

// call is a run of a session: values of its inputs, over the memory of arrays, and of its outputs.
type call struct {
	*native
	inputs, into []given // arrays that C reads and writes
	// What C reads, addresses of Go's memory among it: one more than there are, so that none is empty.
	inNames, outNames []unsafe.Pointer
	in, out           []uintptr
	places            []int // of the outputs
}

// call prepares a run that returns the outputs at the given places, in arrays of the library's own; or,
// if there are any, in the arrays of into, which are for the same places.
func (s *native) call(inputs []given, places []int, into []given) (*call, error) {
	c := &call{native: s, inputs: inputs, into: into, places: places,
		inNames: make([]unsafe.Pointer, len(inputs)+1), outNames: make([]unsafe.Pointer, len(places)+1),
		in: make([]uintptr, len(inputs)+1), out: make([]uintptr, len(places)+1)}
	for i, g := range inputs {
		c.inNames[i] = unsafe.Pointer(&s.inputNames[g.place][0])
		if err := s.lib.tensor(g.array, &c.in[i]); err != nil {
			c.release()
			return nil, fmt.Errorf("%w (input %s)", err, s.inputs[g.place].Name)
		}
	}
	for i, k := range places {
		c.outNames[i] = unsafe.Pointer(&s.outputNames[k][0])
	}
	for i, g := range into {
		if err := s.lib.tensor(g.array, &c.out[i]); err != nil {
			c.release()
			return nil, fmt.Errorf("%w (output %s)", err, s.outputs[g.place].Name)
		}
	}
	return c, nil
}

// run runs the model once.
func (c *call) run(ctx context.Context) error {
	l := c.lib
	options, end, err := l.until(ctx)
	if err != nil {
		return err
	}
	status := l.api.run(c.session, options, &c.inNames[0], &c.in[0], uintptr(len(c.inputs)), &c.outNames[0], uintptr(len(c.places)), &c.out[0])
	end()
	runtime.KeepAlive(c)
	err = l.failed(status)
	if ended := ctx.Err(); err != nil && ended != nil {
		return ended
	}
	return err
}

// results copies the outputs of a run.
func (c *call) results() ([]Array, error) {
	arrays := make([]Array, len(c.places))
	for i, k := range c.places {
		var err error
		if arrays[i], err = c.lib.array(c.out[i]); err != nil {
			return nil, fmt.Errorf("%w (output %s)", err, c.outputs[k].Name)
		}
	}
	return arrays, nil
}

// release frees the values.
func (c *call) release() {
	for _, values := range [][]uintptr{c.in, c.out} {
		for i, v := range values {
			if v != 0 {
				c.lib.releaseValue(v)
			}
			values[i] = 0
		}
	}
}

// tensor makes a value of an array's memory, which must live as long as the value.
func (l *library) tensor(a Array, value *uintptr) error {
	shape := make([]int64, len(a.Shape)+1)
	for i, n := range a.Shape {
		shape[i] = int64(n)
	}
	data := a.Data
	if len(data) == 0 {
		data = make([]byte, 1)
	}
	return l.failed(l.createTensor(l.memory, unsafe.Pointer(&data[0]), uintptr(len(a.Data)), &shape[0], uintptr(len(a.Shape)), int32(a.Type), value))
}

// array copies a value.
func (l *library) array(value uintptr) (Array, error) {
	is, info, data := new(int32), new(uintptr), new(unsafe.Pointer)
	if value == 0 {
		return Array{}, failure("there is no value")
	}
	if err := l.failed(l.isTensor(value, is)); err != nil {
		return Array{}, err
	} else if *is == 0 {
		return Array{}, failure("the value is no array")
	}
	if err := l.failed(l.getShape(value, info)); err != nil {
		return Array{}, err
	}
	defer l.releaseShape(*info)
	t, sizes, err := l.shape(*info)
	if err != nil {
		return Array{}, err
	}
	a := Array{Type: t, Shape: make([]int, len(sizes))}
	for i, n := range sizes {
		a.Shape[i] = int(n)
	}
	n := a.Len() * t.Size()
	if t.Size() == 0 {
		return Array{}, failure("arrays of " + t.String() + " are not read")
	}
	a.Data = make([]byte, n)
	if n > 0 {
		if err := l.failed(l.getData(value, data)); err != nil {
			return Array{}, err
		}
		copy(a.Data, unsafe.Slice((*byte)(*data), n))
	}
	return a, nil
}

// until returns options under which a run ends when ctx does, and what to call after it. A context
// that never ends needs none.
func (l *library) until(ctx context.Context) (options uintptr, end func(), err error) {
	if ctx.Done() == nil {
		return 0, func() {}, nil
	}
	o := new(uintptr)
	if err := l.failed(l.createRunOptions(o)); err != nil {
		return 0, nil, err
	}
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		_ = l.failed(l.setTerminate(*o))
	})
	return *o, func() {
		if !stop() {
			<-told // the options must outlive it
		}
		l.releaseRunOptions(*o)
	}, nil
}

// close frees the session.
func (s *native) close() { s.lib.releaseSession(s.session) }
