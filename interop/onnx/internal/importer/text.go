package importer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// texts has the operators on text. A graph computes with numbers, so that text must be known when it
// is built.
var texts = map[string]rule{
	"StringNormalizer": normaliseText,
	"TfIdfVectorizer":  countGrams,
}

// words returns the texts of operand i, which must be known.
func (c *call) words(i int) []string {
	if !c.has(i) || c.in[i].kind != strs || c.in[i].tensor == nil {
		c.fail("operand %d is text that is not known when the graph is built", i)
	}
	return c.in[i].text
}

// textOf returns text as a value.
func textOf(list []string, sizes ...int) value {
	t := &format.Tensor{Type: format.String, Strings: list}
	for _, n := range sizes {
		t.Dims = append(t.Dims, int64(n))
	}
	return value{kind: strs, text: list, elem: format.String, tensor: t}
}

// written returns numbers that are known as text, with as few digits as tell them from others of
// their type.
func (c *call) written() value {
	if c.has(0) && c.in[0].kind == strs {
		return c.in[0]
	}
	bits, x := 64, c.x(0)
	switch c.in[0].elem {
	case format.Float:
		bits = 32
	case format.Float16, format.BFloat16:
		c.fail("text of numbers of 16 bits")
	}
	data := c.known(0)
	list := make([]string, len(data))
	for i, v := range data {
		form := byte('f')
		if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
			form = 'e'
		}
		switch {
		case math.IsNaN(v):
			list[i] = "NaN"
		case math.IsInf(v, 0):
			list[i] = strings.TrimPrefix(strings.ToUpper(strconv.FormatFloat(v, form, -1, bits)), "+")
		default:
			list[i] = strconv.FormatFloat(v, form, -1, bits)
		}
	}
	return textOf(list, x.Shape().Sizes()...)
}

// normaliseText drops stop words and changes the case. Where nothing is left it gives one empty word.
func normaliseText(c *call) []value {
	list, dims := c.words(0), c.in[0].tensor.Dims
	if len(dims) != 1 && (len(dims) != 2 || dims[0] != 1) {
		c.fail("text of shape %v: want [c] or [1 c]", dims)
	}
	change := func(s string) string { return s }
	switch action := c.text("case_change_action", "NONE"); action {
	case "NONE":
	case "LOWER":
		change = strings.ToLower
	case "UPPER":
		change = strings.ToUpper
	default:
		c.fail("case_change_action %q", action)
	}
	same := func(a, b string) bool { return a == b }
	if c.int("is_case_sensitive", 0) == 0 {
		same = strings.EqualFold
	}
	var stop []string
	if a := c.attr("stopwords"); a != nil {
		stop = a.Strings
	}
	kept := []string{}
	for _, s := range list {
		if !slices.ContainsFunc(stop, func(w string) bool { return same(w, s) }) {
			kept = append(kept, change(s))
		}
	}
	if len(kept) == 0 {
		kept = append(kept, "")
	}
	if len(dims) == 2 {
		return []value{textOf(kept, 1, len(kept))}
	}
	return []value{textOf(kept, len(kept))}
}

// countGrams counts in each row of tokens [c] or [n c] how often it has the n-grams of a pool: tokens
// that follow each other, or that lie up to max_skip_count+1 places apart.
func countGrams(c *call) []value {
	x, pool := c.tokens()
	least, most, skips := c.int("min_gram_length", 1), c.int("max_gram_length", 1), c.int("max_skip_count", 0)
	starts, columns := c.list("ngram_counts"), c.list("ngram_indexes")
	if len(columns) == 0 || least < 1 || most < least || most > len(starts) || skips < 0 || skips > 1<<10 {
		c.fail("n-grams of %d to %d tokens with up to %d between, of %d lengths", least, most, skips, len(starts))
	}
	width := slices.Max(columns) + 1
	if slices.Min(columns) < 0 || width > 1<<24 {
		c.fail("ngram_indexes up to %d", width-1)
	}
	vector := x.Rank() == 1
	if vector {
		x = ops.Expand(x, 0, "")
	}
	rows, length := x.Dim(0), x.Dim(1)
	dt, _ := c.dtype(format.Float)
	total := ops.Zeros(c.g, dt, graph.Ax("", rows), graph.Ax("", width))
	gram := 0 // before those of this length
	for n := 1; n <= len(starts); n++ {
		end := len(pool)
		if n < len(starts) {
			end = starts[n]
		}
		from := starts[n-1]
		if from < 0 || end < from || end > len(pool) || (end-from)%n != 0 || gram+(end-from)/n > len(columns) {
			c.fail("ngram_counts %v of a pool of %d tokens", starts, len(pool))
		}
		grams := (end - from) / n
		to := columns[gram : gram+grams]
		gram += grams
		if n < least || n > most || grams == 0 {
			continue
		}
		for step := 1; step <= skips+1 && (n > 1 || step == 1); step++ {
			places := length - (n-1)*step
			if places < 1 {
				break
			}
			var found *graph.Node // [rows places grams]
			for j := range n {
				tokens := make([]float64, grams)
				for g := range tokens {
					tokens[g] = pool[from+g*n+j]
				}
				at := ops.Expand(span(x, 1, j*step, j*step+places), -1, "")
				equal := ops.Equal(at, c.array(graph.I64, tokens, 1, 1, grams))
				if found == nil {
					found = equal
				} else {
					found = ops.And(found, equal)
				}
			}
			counts := ops.Sum(ops.Cast(found, dt), 1)
			total = ops.Add(total, ops.Transpose(ops.ScatterAdd(c.vector(to), ops.Transpose(counts), 0, graph.Ax("", width), graph.Ax("", rows))))
		}
	}
	y := c.weighed(total, columns)
	if vector {
		y = ops.Squeeze(y, 0)
	}
	return []value{{node: y, elem: format.Float}}
}

// weighed applies the mode to the counts.
func (c *call) weighed(counts *graph.Node, columns []int) *graph.Node {
	mode := c.text("mode", "")
	switch mode {
	case "TF":
		return counts
	case "IDF":
		counts = ops.Cast(ops.Greater(counts, ops.Lit(counts, 0)), counts.DType())
	case "TFIDF":
	default:
		c.fail("mode %q: want TF, IDF or TFIDF", mode)
	}
	a := c.attr("weights")
	if a == nil || len(a.Floats) == 0 {
		return counts
	}
	if len(a.Floats) != len(columns) {
		c.fail("%d weights of %d n-grams", len(a.Floats), len(columns))
	}
	weights := make([]float64, counts.Dim(1))
	for i, column := range columns {
		if i != column {
			c.fail("weights of n-grams in another order than that of the result, of which implementations have different notions")
		}
		weights[column] = float64(a.Floats[i])
	}
	return ops.Mul(counts, c.array(counts.DType(), weights, len(weights)))
}

// tokens returns operand 0 as integers, and the pool: texts are numbered.
func (c *call) tokens() (x *graph.Node, pool []float64) {
	a := c.attr("pool_int64s")
	if a != nil && len(a.Ints) > 0 {
		for _, v := range a.Ints {
			if v != int64(float64(v)) {
				c.fail("a token %d of more than 53 bits", v)
			}
			pool = append(pool, float64(v))
		}
		x = ops.Cast(bare(c.x(0)), graph.I64)
		if x.Rank() != 1 && x.Rank() != 2 {
			c.fail("tokens of shape %v: want [c] or [n c]", x.Shape().Sizes())
		}
		return x, pool
	}
	if a = c.attr("pool_strings"); a == nil {
		c.fail("there is no pool of n-grams")
	}
	number := map[string]float64{}
	for _, s := range a.Strings {
		if _, ok := number[s]; !ok {
			number[s] = float64(len(number))
		}
		pool = append(pool, number[s])
	}
	words := c.words(0)
	data, sizes := make([]float64, len(words)), []int{}
	for i, s := range words {
		if n, ok := number[s]; ok {
			data[i] = n
		} else {
			data[i] = -1
		}
	}
	for _, n := range c.in[0].tensor.Dims {
		sizes = append(sizes, int(n))
	}
	if len(sizes) != 1 && len(sizes) != 2 {
		c.fail("tokens of shape %v: want [c] or [n c]", sizes)
	}
	return c.array(graph.I64, data, sizes...), pool
}
