// Package initial has the initialisers: how the parameters and states of a graph start.
//
//	w := g.Param("w", graph.F32, graph.Ax("in", 784), graph.Ax("out", 128)).Init(initial.He())
//
// An initialiser is a description, compared with == and printed with the parameter that has it:
// glorot, normal(0,0.1). The store of package tape draws the values, in float64 and rounded to the
// element type, from its seed and the parameter's path alone. [Custom] makes an initialiser of a
// function.
//
// Fan in and fan out are read off the shape: the last axis is fan out, and the product of the
// others fan in. The window of a convolution's kernel therefore counts as fan in.
package initial

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph/attr"
)

// The kinds of initialisers.
const (
	zeros uint8 = iota
	fill
	uniform
	normal
	glorot
	he
	xavier
	glorotUniform
	heUniform
	orthogonal
	rows
	custom
)

var names = [...]string{"zeros", "fill", "uniform", "normal", "glorot", "he", "xavier", "glorot-uniform", "he-uniform", "orthogonal", "rows", "custom"}

// numbers counts the numbers that each is called with.
var numbers = [len(names)]int{fill: 1, uniform: 2, normal: 2, orthogonal: 1}

// Init says how a parameter or state starts. The zero Init is [Zeros].
type Init struct {
	kind uint8
	a, b attr.Float
	of   string // the path of the input of Rows, the name of Custom
	own  *Draw  // the function of Custom; nil for one that was read as text
}

// Draw returns the values, in row-major order, of an array with axes of the given sizes.
type Draw func(sizes []int, r *rand.Rand) []float64

// Zeros starts every element at 0, as states and biases do.
func Zeros() Init { return Init{} }

// Fill starts every element at v.
func Fill(v float64) Init { return Init{kind: fill, a: attr.FloatOf(v)} }

// Uniform draws evenly from [lo, hi).
func Uniform(lo, hi float64) Init {
	return Init{kind: uniform, a: attr.FloatOf(lo), b: attr.FloatOf(hi)}
}

// Normal draws with the given mean and standard deviation.
func Normal(mean, std float64) Init {
	return Init{kind: normal, a: attr.FloatOf(mean), b: attr.FloatOf(std)}
}

// Glorot draws normally with variance 2/(fan in + fan out) (Glorot & Bengio, 2010), a compromise
// between the variance of values on the way forwards and of derivatives on the way back.
func Glorot() Init { return Init{kind: glorot} }

// GlorotUniform draws uniformly with the variance of [Glorot]: from ±√(6/(fan in + fan out)).
func GlorotUniform() Init { return Init{kind: glorotUniform} }

// He draws normally with variance 2/(fan in) (He et al., 2015): behind a ReLU half of the inputs
// are 0, so the others must weigh twice as much.
func He() Init { return Init{kind: he} }

// HeUniform draws uniformly with the variance of [He]: from ±√(6/(fan in)).
func HeUniform() Init { return Init{kind: heUniform} }

// Xavier draws normally with variance 1/(fan in), which keeps the variance from layer to layer
// forwards (LeCun et al., 1998). [Glorot] looks backwards too.
func Xavier() Init { return Init{kind: xavier} }

// Orthogonal draws a matrix with orthonormal columns, or rows where it is wider than tall, evenly
// among all of them, times the gain (Saxe, McClelland & Ganguli, 2014): no direction is stretched
// more than another. The last axis counts the columns, the others together the rows, so that the
// columns of a convolution's kernel are its filters.
func Orthogonal(gain float64) Init { return Init{kind: orthogonal, a: attr.FloatOf(gain)} }

// Rows starts at rows of the data that the input with the given path reads: centres r[j d] among the
// points x[i d], prototypes, the knots of a kernel. A store has no data: it draws from N(0, 1).
// Package lab, and the commands, choose rows by k-means++ in its place.
func Rows(path string) Init { return Init{kind: rows, of: path} }

// Custom starts at the values that a function of one's own returns, as many as the array has
// elements, and finite. What it draws comes from r alone, which depends on the store's seed and the
// path of the parameter: so the values do not depend on what else there is, and a parameter has
// them in every program.
//
//	lecun := initial.Custom("lecun-uniform", func(sizes []int, r *rand.Rand) []float64 { … })
//	w := g.Param("w", graph.F32, graph.Ax("in", 784), graph.Ax("out", 128)).Init(lecun)
//
// The name stands for the function where the initialiser is printed: custom(lecun-uniform). A text
// has no function: a parameter that was read from one needs its values from elsewhere, such as a
// checkpoint, and is an error where a store should draw it. Two calls of Custom make two
// initialisers, which are not equal.
func Custom(name string, f Draw) Init { return Init{kind: custom, of: name, own: &f} }

// Custom returns the name and the function of [Custom], nil if the initialiser was read as text; ok
// is false for all others.
func (i Init) Custom() (name string, f Draw, ok bool) {
	if i.kind != custom {
		return "", nil, false
	}
	if i.own != nil {
		f = *i.own
	}
	return i.of, f, true
}

// Input returns the path of the input of [Rows]; ok is false for all others.
func (i Init) Input() (path string, ok bool) {
	if i.kind != rows {
		return "", false
	}
	return i.of, true
}

// Orthonormal returns the gain of [Orthogonal]; ok is false for all others.
func (i Init) Orthonormal() (gain float64, ok bool) { return i.a.Value(), i.kind == orthogonal }

// Constant returns the number at which every element starts; ok is false where they are drawn.
func (i Init) Constant() (v float64, ok bool) {
	one := i.kind <= fill || i.kind == normal && i.b.Value() == 0 || i.kind == uniform && i.a.Value() == i.b.Value()
	return i.a.Value(), one
}

// Numbers returns the numbers that the initialiser was called with.
func (i Init) Numbers() []float64 { return []float64{i.a.Value(), i.b.Value()}[:i.count()] }

// count returns how many numbers the initialiser is called with.
func (i Init) count() int { return numbers[min(int(i.kind), len(names)-1)] }

// Err says what is wrong: a number is not finite, a standard deviation is negative, the upper end of
// a range is below the lower, [Rows] names no input, [Custom] has no name or its function is nil. It
// returns nil if nothing is.
func (i Init) Err() error {
	for _, v := range i.Numbers() {
		if math.IsNaN(v - v) {
			return fmt.Errorf("initialiser %v: want finite numbers", i)
		}
	}
	switch {
	case i.kind == rows && i.of == "":
		return errors.New("initialiser rows: want the path of an input in its brackets")
	case i.kind == custom && i.of == "":
		return errors.New("initialiser custom: want a name in its brackets")
	case i.kind == custom && i.own != nil && *i.own == nil:
		return fmt.Errorf("initialiser %v: the function is nil", i)
	case i.kind == normal && i.b.Value() < 0:
		return fmt.Errorf("initialiser %v: the standard deviation is negative", i)
	case i.kind == uniform && i.b.Value() < i.a.Value():
		return fmt.Errorf("initialiser %v: the upper end is below the lower", i)
	}
	return nil
}

// Distribution returns the numbers to draw for an array with axes of the given sizes: offset is
// a constant, or the mean of a normal distribution (std > 0), or the lower end of a uniform one
// (width > 0). For [Orthogonal] it is the standard normal, from which the caller makes a basis, and
// so it is for [Rows] and for [Custom].
func (i Init) Distribution(sizes ...int) (offset, std, width float64) {
	in, out := 1, 1
	for k, n := range sizes {
		if k < len(sizes)-1 {
			in *= n
		} else {
			out = n
		}
	}
	switch i.kind {
	case fill:
		return i.a.Value(), 0, 0
	case uniform:
		return i.a.Value(), 0, i.b.Value() - i.a.Value()
	case normal:
		return i.a.Value(), i.b.Value(), 0
	case glorot:
		return 0, math.Sqrt(2 / float64(in+out)), 0
	case he:
		return 0, math.Sqrt(2 / float64(in)), 0
	case xavier:
		return 0, math.Sqrt(1 / float64(in)), 0
	case glorotUniform:
		return symmetric(math.Sqrt(6 / float64(in+out)))
	case heUniform:
		return symmetric(math.Sqrt(6 / float64(in)))
	case orthogonal, rows, custom:
		return 0, 1, 0
	}
	return 0, 0, 0
}

// symmetric is the uniform distribution between −a and a.
func symmetric(a float64) (offset, std, width float64) { return -a, 0, 2 * a }

// String returns the name, and what it is called with in brackets: zeros, fill(1), uniform(-1,1),
// normal(0,0.1), glorot, orthogonal(1), rows(x), custom(name).
func (i Init) String() string {
	s := names[min(int(i.kind), len(names)-1)]
	switch i.count() {
	case 1:
		return fmt.Sprintf("%s(%v)", s, i.a)
	case 2:
		return fmt.Sprintf("%s(%v,%v)", s, i.a, i.b)
	}
	if i.kind >= rows {
		return fmt.Sprintf("%s(%s)", s, quoted(i.of))
	}
	return s
}

// quoted returns a path as it is written in brackets: in quotes if it has more than letters, digits
// and the signs that paths usually have.
func quoted(path string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_/.-′", r)
	}
	if strings.ContainsFunc(path, odd) {
		return strconv.Quote(path)
	}
	return path
}

// MarshalText returns the text of String.
func (i Init) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads the text of String.
func (i *Init) UnmarshalText(b []byte) error {
	name, args, _ := strings.Cut(strings.TrimSuffix(string(b), ")"), "(")
	for k, s := range names {
		if s != name {
			continue
		}
		v := Init{kind: uint8(k)}
		if v.kind >= rows {
			v.of, args = args, ""
			if path, err := strconv.Unquote(v.of); err == nil {
				v.of = path
			}
		}
		parts := strings.Split(args, ",")
		if args == "" {
			parts = nil
		}
		if len(parts) != v.count() {
			return fmt.Errorf("initialiser %q: want %d numbers", b, v.count())
		}
		for j, p := range parts {
			if err := []*attr.Float{&v.a, &v.b}[j].UnmarshalText([]byte(p)); err != nil {
				return err
			}
		}
		*i = v
		return nil
	}
	return fmt.Errorf("unknown initialiser %q: want one of %s", b, strings.Join(names[:custom], ", "))
}
