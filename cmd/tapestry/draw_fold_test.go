package main

import (
	"strings"
	"testing"
)

func TestDrawFoldsLayers(t *testing.T) {
	draw := func(more ...string) string {
		return ok(t, append([]string{"draw", "transformer-gpt", "--set", "layers=6", "--grad", "--level", "ops"}, more...)...)
	}
	for _, c := range []struct {
		args []string
		has  []string
		not  []string
	}{
		{nil, []string{">block1 … 6 × 6<", ">∂ block1 … 6 × 6<", ">self-attention<"}, nil},
		{[]string{"--format", "dot"}, []string{"block1 … 6 × 6"}, nil},
		{[]string{"--expand", "decoder/block3"}, []string{">block1 … 2 × 2<", ">block3<", ">∂ block3<", ">block4 … 6 × 3<"}, []string{"× 6<"}},
		{[]string{"--unfold"}, []string{">decoder<", "40 parameters<"}, []string{"× 6<", ">block1<"}}, // too many boxes: closed
		{[]string{"--unfold", "--expand", "decoder"}, []string{">block1<", ">block6<"}, []string{"× 6<"}},
	} {
		svg := draw(c.args...)
		for _, want := range c.has {
			if !strings.Contains(svg, want) {
				t.Errorf("%q: no %q", c.args, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(svg, not) {
				t.Errorf("%q: %q is drawn", c.args, not)
			}
		}
	}
}
