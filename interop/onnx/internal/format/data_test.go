package format

import (
	"fmt"
	"testing"
)

func TestData(t *testing.T) {
	tensor := func(v float32) []byte { return append(floats(v), str(8, "w")...) }
	seq := &Type{Kind: KindSequence, Of: &Type{Elem: Float}}
	for _, c := range []struct {
		b    []byte
		t    *Type
		want string
	}{
		{tensor(2), &Type{Elem: Float}, "[[2]] <nil>"},
		{append(str(1, "s"), append(msg(3, tensor(2)), msg(3, tensor(3))...)...), seq, "[[2] [3]] <nil>"},
		{nil, seq, "[] <nil>"},
		{append(num(2, 1), msg(3, tensor(2))...), &Type{Kind: KindOptional, Of: &Type{Elem: Float}}, "[[2]] <nil>"},
		{append(num(2, 3), msg(5, msg(3, tensor(2)))...), &Type{Kind: KindOptional, Of: seq}, "[[2]] <nil>"},
		{num(2, 0), &Type{Kind: KindOptional, Of: seq}, "none <nil>"},
		{msg(5), seq, "none byte 0: sequence: field 5 holds no tensors"},
		{msg(6), &Type{Kind: KindOptional, Of: seq}, "none byte 0: option: field 6 holds no tensors"},
		{nil, &Type{Kind: KindMap, Elem: Int64, Of: seq}, "none byte 0: values of the type map(int64 sequence(float32[…])) are not read"},
	} {
		list, err := ReadData(c.b, c.t)
		var values [][]float64
		for _, x := range list {
			v, err := x.Floats()
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		got := fmt.Sprint(values, " ", err)
		if list == nil {
			got = fmt.Sprint("none ", err)
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
