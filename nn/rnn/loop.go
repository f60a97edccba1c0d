package rnn

import (
	"reflect"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// loop runs a step of layers over time: as one node, or written out. The step of a loop node has a
// graph of its own, and so layers of its own, over the nodes of that graph.
func loop[L any](layers L, l ops.Loop, unroll bool, step func(layers L, carry, x []*graph.Node) (next, out []*graph.Node)) ops.Scanned {
	if unroll {
		return ops.Unroll(l, func(carry, x, _ []*graph.Node) (next, out []*graph.Node) { return step(layers, carry, x) })
	}
	weights := weightsOf(layers)
	l.With = weights
	return ops.Scan(l, func(carry, x, with []*graph.Node) (next, out []*graph.Node) {
		return step(over(layers, weights, with), carry, x)
	})
}

// weightsOf lists the nodes that a layer is made of, each once, in the order of its
// fields: it is a struct, or holds structs, with nodes in exported fields.
func weightsOf(layer any) []*graph.Node {
	var list []*graph.Node
	mapped(reflect.ValueOf(&layer).Elem(), func(n *graph.Node) *graph.Node {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
		return n
	})
	return list
}

// over returns a layer with other nodes in place of its own.
func over[L any](layer L, own, other []*graph.Node) L {
	return mapped(reflect.ValueOf(&layer).Elem(), func(n *graph.Node) *graph.Node {
		return other[slices.Index(own, n)]
	}).Interface().(L)
}

// mapped returns a copy of a value in which f has replaced the nodes.
func mapped(v reflect.Value, f func(*graph.Node) *graph.Node) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if n, ok := v.Interface().(*graph.Node); ok && n != nil {
			return reflect.ValueOf(f(n))
		}
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct || v.Type().Elem().PkgPath() == reflect.TypeFor[graph.Node]().PkgPath() {
			return v
		}
		to := reflect.New(v.Type().Elem())
		to.Elem().Set(mapped(v.Elem(), f))
		return to
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		to := reflect.New(v.Type()).Elem()
		to.Set(mapped(v.Elem(), f))
		return to
	case reflect.Struct:
		to := reflect.New(v.Type()).Elem()
		to.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				to.Field(i).Set(mapped(v.Field(i), f))
			}
		}
		return to
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			to.Index(i).Set(mapped(v.Index(i), f))
		}
		return to
	}
	return v
}
