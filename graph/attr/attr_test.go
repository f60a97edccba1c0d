package attr_test

import (
	"encoding"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph/attr"
)

// TestTextForms: what marshals reads back as the same value.
func TestTextForms(t *testing.T) {
	for _, c := range []struct {
		in   encoding.TextMarshaler
		out  encoding.TextUnmarshaler
		text string
		same func(out any) bool
	}{
		{attr.FloatOf(0.1), new(attr.Float), "0.1", func(o any) bool { return *o.(*attr.Float) == attr.FloatOf(0.1) }},
		{attr.FloatOf(math.Copysign(0, -1)), new(attr.Float), "-0", func(o any) bool { return *o.(*attr.Float) == attr.FloatOf(math.Copysign(0, -1)) }},
		{attr.FloatOf(math.Inf(-1)), new(attr.Float), "-Inf", func(o any) bool { return *o.(*attr.Float) == attr.FloatOf(math.Inf(-1)) }},
		{attr.Float(0x7ff8000000000abc), new(attr.Float), "nan:0x7ff8000000000abc", func(o any) bool { return *o.(*attr.Float) == 0x7ff8000000000abc }},
		{attr.FloatOf(math.NaN()), new(attr.Float), "NaN", func(o any) bool { return *o.(*attr.Float) == attr.FloatOf(math.NaN()) }},
		{attr.AxesOf(0, 2, 7), new(attr.AxisSet), "[0 2 7]", func(o any) bool { return *o.(*attr.AxisSet) == attr.AxesOf(7, 2, 0) }},
		{attr.AxesOf(), new(attr.AxisSet), "[]", func(o any) bool { return *o.(*attr.AxisSet) == 0 }},
		{attr.IntsOf(1, -2, 3), new(attr.Ints), "[1 -2 3]", func(o any) bool { return *o.(*attr.Ints) == attr.IntsOf(1, -2, 3) }},
	} {
		b, err := c.in.MarshalText()
		if err != nil || string(b) != c.text {
			t.Errorf("%v marshals as %s, %v; want %s", c.in, b, err, c.text)
		}
		if err := c.out.UnmarshalText(b); err != nil || !c.same(c.out) {
			t.Errorf("%s reads back as %v, %v", b, c.out, err)
		}
	}
}

// TestRefusedTexts: the exact text of every error.
func TestRefusedTexts(t *testing.T) {
	for _, c := range []struct {
		out  encoding.TextUnmarshaler
		text string
		want string
	}{
		{new(attr.Float), "one", `number "one": want a decimal`},
		{new(attr.Float), "nan:1", `number "nan:1": want the bits of a NaN`},
		{new(attr.AxisSet), "[8]", `axis 8: want 0 to 7`},
		{new(attr.AxisSet), "[-1]", `axis -1: want 0 to 7`},
		{new(attr.Ints), "1 2", `list "1 2": want [1 0 2]`},
		{new(attr.Ints), "[x]", `list "[x]": want at most 8 integers`},
		{new(attr.Ints), "[1 2 3 4 5 6 7 8 9]", `list "[1 2 3 4 5 6 7 8 9]": want at most 8 integers`},
	} {
		if err := c.out.UnmarshalText([]byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s gives %v, want %s", c.text, err, c.want)
		}
	}
}

// TestLists: attributes are lists without slices.
func TestLists(t *testing.T) {
	v := attr.IntsOf(1, 2, 3, 4, 5, 6, 7, 8, 9)
	if v.Len() != 8 || v.At(7) != 8 {
		t.Errorf("got %v", v)
	}
	if l := v.List(); l[0] != 1 {
		t.Errorf("got %v", l)
	} else if l[0] = 5; v.At(0) != 1 {
		t.Error("the list is not a copy")
	}
	s := attr.AxesOf(3, 1)
	if !s.Has(1) || s.Has(2) || !s.Has(3) || len(s.List()) != 2 || s.List()[0] != 1 {
		t.Errorf("got %v", s)
	}
	if attr.AxesOf(-1, 8, 2) != attr.AxesOf(2) || s.Has(-1) || s.Has(8) {
		t.Error("an axis out of range is in a set")
	}
}
