package graph

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Initialisers name how a fresh value is drawn.
const (
	initZeros uint8 = iota
	initFill
	initUniform
	initNormal
	initGlorot
	initHe
	initXavier
	initGlorotUniform
	initHeUniform
	initOrthogonal
)

var initNames = [...]string{"zeros", "fill", "uniform", "normal", "glorot", "he", "xavier", "glorot-uniform", "he-uniform", "orthogonal"}

// initNumbers is how many numbers each is called with.
var initNumbers = [len(initNames)]int{initFill: 1, initUniform: 2, initNormal: 2, initOrthogonal: 1}

// Init says how a parameter or state starts. The drawing itself is done by the
// store, from its seed and the leaf's path alone.
type Init struct {
	Kind uint8
	A, B attr.Float
}

// Zeros is the initialiser of states and biases.
func Zeros() Init { return Init{} }

// Fill starts every element at v.
func Fill(v float64) Init { return Init{Kind: initFill, A: attr.FloatOf(v)} }

// Uniform draws from [lo, hi).
func Uniform(lo, hi float64) Init {
	return Init{Kind: initUniform, A: attr.FloatOf(lo), B: attr.FloatOf(hi)}
}

// Normal draws with the given mean and standard deviation.
func Normal(mean, std float64) Init {
	return Init{Kind: initNormal, A: attr.FloatOf(mean), B: attr.FloatOf(std)}
}

// Glorot draws normally with variance 2/(fan in + fan out) (Glorot & Bengio,
// 2010). The last axis is fan out, the product of the others fan in.
func Glorot() Init { return Init{Kind: initGlorot} }

// He draws normally with variance 2/(fan in) (He et al., 2015): behind a ReLU half
// of the inputs are 0, so the others must weigh twice as much.
func He() Init { return Init{Kind: initHe} }

// Xavier draws normally with variance 1/(fan in), which keeps the variance from
// layer to layer forwards (the notes on initialisation; LeCun et al., 1998). The
// window of a convolution's kernel counts: fan in is the product of all axes but
// the last. [Glorot] looks backwards too.
func Xavier() Init { return Init{Kind: initXavier} }

// GlorotUniform draws uniformly with the variance of [Glorot]: from ±√(6/(fan in +
// fan out)).
func GlorotUniform() Init { return Init{Kind: initGlorotUniform} }

// HeUniform draws uniformly with the variance of [He]: from ±√(6/(fan in)).
func HeUniform() Init { return Init{Kind: initHeUniform} }

// Orthogonal draws a matrix Q with orthonormal columns, or rows where it is wider
// than tall, evenly among all of them, times the gain (Saxe, McClelland & Ganguli,
// 2014): no direction is stretched more than another. The last axis counts the
// columns, the others together the rows, so a kernel's columns are its filters.
func Orthogonal(gain float64) Init { return Init{Kind: initOrthogonal, A: attr.FloatOf(gain)} }

// Orthonormal gives the gain of [Orthogonal]; ok is false for all others.
func (i Init) Orthonormal() (gain float64, ok bool) {
	return i.A.Value(), i.Kind == initOrthogonal
}

// one reports whether all elements start with the same number, A.
func (i Init) one() bool {
	return i.Kind <= initFill || i.Kind == initNormal && i.B.Value() == 0 || i.Kind == initUniform && i.A.Value() == i.B.Value()
}

// check refuses numbers that no value of a type can be drawn with.
func (i Init) check(dt DType) error {
	a, b := i.A.Value(), i.B.Value()
	switch {
	case !dt.IsFloat() && !i.one():
		return &Mistake{fmt.Sprintf("initialiser %v draws fractions, which type %v does not hold", i, dt), "start it with graph.Zeros or graph.Fill, or use f32 or f64"}
	case !dt.Holds(a) || dt.IsFloat() && !dt.Holds(b):
		return fmt.Errorf("initialiser %v: %w", i, dt.HoldsAll([]float64{a, b}))
	case math.IsNaN(a-a) || math.IsNaN(b-b):
		return fmt.Errorf("initialiser %v: want finite numbers", i)
	case i.Kind == initNormal && b < 0:
		return fmt.Errorf("initialiser %v: the standard deviation is negative", i)
	case i.Kind == initUniform && b < a:
		return fmt.Errorf("initialiser %v: the upper end is below the lower", i)
	}
	return nil
}

// Distribution reduces an initialiser for one shape to what must be drawn: a
// constant (std and width 0), a normal (std > 0), or a uniform (width > 0). What
// [Orthogonal] draws is a standard normal, of which the caller makes a basis.
func (i Init) Distribution(s Shape) (offset, std, width float64) {
	out := s.Dim(s.Rank() - 1)
	in := s.Len() / out
	switch i.Kind {
	case initFill:
		return i.A.Value(), 0, 0
	case initUniform:
		return i.A.Value(), 0, i.B.Value() - i.A.Value()
	case initNormal:
		return i.A.Value(), i.B.Value(), 0
	case initGlorot:
		return 0, math.Sqrt(2 / float64(in+out)), 0
	case initHe:
		return 0, math.Sqrt(2 / float64(in)), 0
	case initXavier:
		return 0, math.Sqrt(1 / float64(in)), 0
	case initGlorotUniform:
		return symmetric(math.Sqrt(6 / float64(in+out)))
	case initHeUniform:
		return symmetric(math.Sqrt(6 / float64(in)))
	case initOrthogonal:
		return 0, 1, 0
	}
	return 0, 0, 0
}

// symmetric is the uniform distribution between −a and a.
func symmetric(a float64) (offset, std, width float64) { return -a, 0, 2 * a }

// String gives zeros, fill(1), uniform(-1,1), normal(0,0.1), glorot, orthogonal(1).
func (i Init) String() string {
	k := min(int(i.Kind), len(initNames)-1)
	s := initNames[k]
	switch initNumbers[k] {
	case 1:
		return fmt.Sprintf("%s(%v)", s, i.A)
	case 2:
		return fmt.Sprintf("%s(%v,%v)", s, i.A, i.B)
	}
	return s
}

// MarshalText is String.
func (i Init) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads the form of String.
func (i *Init) UnmarshalText(b []byte) error {
	name, args, _ := strings.Cut(strings.TrimSuffix(string(b), ")"), "(")
	for k, s := range initNames {
		if s != name {
			continue
		}
		v := Init{Kind: uint8(k)}
		want := initNumbers[k]
		parts := strings.Split(args, ",")
		if args == "" {
			parts = nil
		}
		if len(parts) != want {
			return fmt.Errorf("initialiser %q: want %d numbers", b, want)
		}
		for j, p := range parts {
			if err := []*attr.Float{&v.A, &v.B}[j].UnmarshalText([]byte(p)); err != nil {
				return err
			}
		}
		*i = v
		return nil
	}
	return fmt.Errorf("unknown initialiser %q: want one of %s", b, strings.Join(initNames[:], ", "))
}
