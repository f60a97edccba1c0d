package graph_test

import (
	"reflect"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestZeroValues: no method without arguments of a value type panics on its zero value.
func TestZeroValues(t *testing.T) {
	for _, v := range []any{graph.Value{}, graph.Type{}, graph.Shape{}, graph.Axis{}, graph.DType(0),
		graph.Pos{}, graph.Origin{}, graph.Occurrence{}, graph.Role(0), graph.Mistake{}, graph.Errors(nil)} {
		p := reflect.New(reflect.TypeOf(v))
		for i := range p.NumMethod() {
			m, name := p.Method(i), p.Type().Method(i).Name
			if m.Type().NumIn() > 0 && !m.Type().IsVariadic() {
				continue
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%T.%s panics: %v", v, name, r)
					}
				}()
				m.Call(nil)
			}()
		}
	}
}
