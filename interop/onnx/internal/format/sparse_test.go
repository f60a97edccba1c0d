package format

import (
	"fmt"
	"slices"
	"testing"
)

func sparseWeight(values, indices []byte, dims string) []byte {
	return msg(15, msg(1, values, str(8, "w")), msg(2, indices), str(3, dims))
}

func floats(v ...float32) []byte {
	return slices.Concat(num(2, uint64(Float)), num(1, uint64(len(v))), str(4, little(v)))
}

func ints(dims string, v ...uint64) []byte {
	return slices.Concat(num(2, uint64(Int64)), str(1, dims), str(7, varints(v...)))
}

// A sparse tensor is read as a dense one, and written as a sparse one.
func TestSparse(t *testing.T) {
	for name, indices := range map[string][]byte{
		"of elements": ints("\x03", 1, 3, 5),
		"of axes":     ints("\x03\x02", 0, 1, 1, 0, 1, 2),
	} {
		b := inGraph(sparseWeight(floats(7, 8, 9), indices, "\x02\x03"),
			node("Constant", attribute(msg(22, msg(1, floats(4)), msg(2, ints("\x01", 2)), str(3, "\x03")))))
		m := mustRead(t, b)
		for range 2 {
			if got, err := m.Graph.Init[0].Floats(); err != nil || !slices.Equal(got, []float64{0, 7, 0, 8, 0, 9}) {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
			if got, err := m.Graph.Nodes[0].Attr("a").Tensor.Floats(); err != nil || !slices.Equal(got, []float64{0, 0, 4}) {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
			want := "ir 0, producer \"\"\ninit w sparse float32[2 3][0 7 0 8 0 9]\ny = Constant{a=sparse float32[3][0 0 4]}\n"
			if m.String() != want {
				t.Errorf("%s: got\n%swant\n%s", name, m, want)
			}
			m = mustRead(t, written(t, m))
		}
	}
}

func TestSparseMistakes(t *testing.T) {
	text := slices.Concat(num(2, uint64(String)), num(1, 1), str(6, "a"))
	for _, c := range []struct {
		values, indices []byte
		dims, want      string
	}{
		{floats(1), ints("\x01", 6), "\x02\x03", `sparse tensor "w": index 0, 6, is not within its 6 elements`},
		{floats(1), ints("\x01", 1<<63), "\x02\x03", `sparse tensor "w": index 0, -9223372036854775808, is not within its 6 elements`},
		{floats(1), ints("\x01\x02", 0, 3), "\x02\x03", `sparse tensor "w": index 0 of axis 1, 3, is not within its size 3`},
		{floats(1, 2), ints("\x02", 3, 3), "\x02\x03", `sparse tensor "w": index 1 is not after the one before it`},
		{floats(1, 2), ints("\x01", 3), "\x02\x03", `sparse tensor "w" has indices int64[1]: want int64[2] or int64[2 2]`},
		{floats(1), floats(1), "\x02\x03", `sparse tensor "w" has indices float32[1]: want int64[1] or int64[1 2]`},
		{slices.Concat(floats(1), num(1, 1)), ints("\x01", 3), "\x02\x03", `sparse tensor "w" has values of the shape [1 1]: want one axis`},
		{text, ints("\x01", 3), "\x02\x03", `sparse tensor "w" has elements of string: want numbers`},
		{floats(1), ints("\x01", 3), varints(1 << 30), `sparse tensor "w" has 1073741824 elements, of which 1 are not 0: want at most 2000, a thousand for each`},
	} {
		_, err := read(inGraph(sparseWeight(c.values, c.indices, c.dims)), Limits{})
		if want := "byte 4: " + c.want; fmt.Sprint(err) != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	_, err := read(inGraph(msg(15, msg(1, floats(1)))), Limits{})
	if want := "byte 4: a sparse tensor has no values or no indices"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
