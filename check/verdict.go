package check

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
)

// Verdict is the outcome of one check.
type Verdict struct {
	Check   string  // the check's name: "gradient"
	Diff    float64 // the largest difference found, relative to what it is compared with
	Limit   float64 // the difference that is allowed; 0: not a bit
	Err     error   // why it failed, or does not apply; nil if all is well
	Skipped bool    // it does not apply
	Note    string  // what the reader should know besides: inputs that were held
}

// OK reports whether the check did not fail.
func (v Verdict) OK() bool { return v.Err == nil || v.Skipped }

// Status returns ok, n/a or FAILED.
func (v Verdict) Status() string {
	switch {
	case v.Skipped:
		return "n/a"
	case v.Err != nil:
		return "FAILED"
	}
	return "ok"
}

// Detail returns how far values are apart, or the mistake.
func (v Verdict) Detail() string {
	s := ""
	switch {
	case v.Err != nil:
		s = v.Err.Error()
	case v.Limit > 0:
		s = fmt.Sprintf("difference %.1e, allowed %.0e", v.Diff, v.Limit)
	}
	if v.Note != "" && s != "" {
		s += "; "
	}
	return s + v.Note
}

// String returns one line: check, status, detail.
func (v Verdict) String() string { return fmt.Sprintf("%-9s %-6s %s", v.Check, v.Status(), v.Detail()) }

// Failed joins the errors of the failed checks; nil if none failed.
func Failed(verdicts []Verdict) error {
	var errs []error
	for _, v := range verdicts {
		if !v.OK() {
			errs = append(errs, fmt.Errorf("%s: %w", v.Check, v.Err))
		}
	}
	return errors.Join(errs...)
}

func failed(name string, err error) Verdict { return Verdict{Check: name, Err: err} }

func skipped(name, why string) Verdict {
	return Verdict{Check: name, Err: errors.New(why), Skipped: true}
}

// compared holds the values of some nodes to what they should be. A difference is
// relative to the largest entry of its node, or to a thousandth of the largest of
// all where a node has nothing but small ones: a derivative that cancels to zero
// keeps the rounding of what was cancelled.
func compared(name string, nodes []*graph.Node, got, want []graph.Value, limit func(graph.DType) float64) Verdict {
	v := Verdict{Check: name}
	overall := 0.0
	for _, w := range want {
		overall = max(overall, largest(w))
	}
	for i, n := range nodes {
		allowed := limit(coarsest(n))
		scale := max(largest(want[i]), overall/1000, math.SmallestNonzeroFloat64)
		v.Limit = max(v.Limit, allowed)
		if len(got[i].Data) != len(want[i].Data) {
			v.Err = fmt.Errorf("%v: %d elements, want %d", n, len(got[i].Data), len(want[i].Data))
			return v
		}
		for k, w := range want[i].Data {
			g := got[i].Data[k]
			if g == w || math.IsNaN(g) && math.IsNaN(w) {
				continue
			}
			d := math.Abs(g-w) / scale
			if !(d <= v.Diff) {
				v.Diff = d
			}
			if !(d <= allowed) && v.Err == nil {
				v.Err = fmt.Errorf("%v: element %d is %v, want %v", n, k, g, w)
			}
		}
	}
	return v
}

// identical holds values to others bit for bit; NaN is NaN.
func identical(nodes []*graph.Node, got, want []graph.Value) error {
	for i, n := range nodes {
		for k, w := range want[i].Data {
			g := got[i].Data[k]
			if math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
				return fmt.Errorf("%v: element %d is %v, not %v", n, k, g, w)
			}
		}
	}
	return nil
}

// largest is the largest magnitude among the finite entries of a float array; the
// others are exact and set no scale.
func largest(v graph.Value) float64 {
	most := 0.0
	if !v.Type.DType.IsFloat() {
		return most
	}
	for _, x := range v.Data {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			most = math.Max(most, math.Abs(x))
		}
	}
	return most
}

// coarsest returns the type that limits the digits of n: bf16 or f16 where n is computed of such
// values, and otherwise its own.
func coarsest(n *graph.Node) graph.DType {
	least := n.DType()
	if !least.IsFloat() {
		return least
	}
	for _, x := range graph.Reachable(n) {
		if dt := x.DType(); dt == graph.BF16 || dt == graph.F16 && least != graph.BF16 {
			least = dt
		}
	}
	return least
}

// within is a tolerance for each float type; other types are exact.
func within(f32, f64 float64) func(graph.DType) float64 {
	return func(dt graph.DType) float64 {
		switch dt {
		case graph.F32:
			return f32
		case graph.F64:
			return f64
		case graph.F16:
			return max(f32, 8*0x1p-11)
		case graph.BF16:
			return max(f32, 8*0x1p-8)
		}
		return 0
	}
}
