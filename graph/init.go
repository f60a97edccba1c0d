package graph

import (
	"fmt"
	"math"
	"strings"
)

// Initialisers name how a fresh value is drawn.
const (
	initZeros uint8 = iota
	initFill
	initUniform
	initNormal
	initGlorot
	initHe
)

var initNames = [...]string{"zeros", "fill", "uniform", "normal", "glorot", "he"}

// Init says how a parameter or state starts. The drawing itself is done by the
// store, from its seed and the leaf's path alone.
type Init struct {
	Kind uint8
	A, B Float
}

// Zeros is the initialiser of states and biases.
func Zeros() Init { return Init{} }

// Fill starts every element at v.
func Fill(v float64) Init { return Init{Kind: initFill, A: Bits(v)} }

// Uniform draws from [lo, hi).
func Uniform(lo, hi float64) Init { return Init{Kind: initUniform, A: Bits(lo), B: Bits(hi)} }

// Normal draws with the given mean and standard deviation.
func Normal(mean, std float64) Init { return Init{Kind: initNormal, A: Bits(mean), B: Bits(std)} }

// Glorot draws normally with variance 2/(fan in + fan out) (Glorot & Bengio,
// 2010). The last axis is fan out, the product of the others fan in.
func Glorot() Init { return Init{Kind: initGlorot} }

// He draws normally with variance 2/(fan in) (He et al., 2015).
func He() Init { return Init{Kind: initHe} }

// check refuses numbers that no value can be drawn with.
func (i Init) check() error {
	a, b := i.A.Value(), i.B.Value()
	switch {
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
// constant (std and width 0), a normal (std > 0), or a uniform (width > 0).
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
	}
	return 0, 0, 0
}

// String gives zeros, fill(1), uniform(-1,1), normal(0,0.1), glorot or he.
func (i Init) String() string {
	s := initNames[min(int(i.Kind), len(initNames)-1)]
	switch i.Kind {
	case initFill:
		return fmt.Sprintf("%s(%v)", s, i.A)
	case initUniform, initNormal:
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
		want := [...]int{initFill: 1, initUniform: 2, initNormal: 2, initHe: 0}[k]
		parts := strings.Split(args, ",")
		if args == "" {
			parts = nil
		}
		if len(parts) != want {
			return fmt.Errorf("initialiser %q: want %d numbers", b, want)
		}
		for j, p := range parts {
			if err := []*Float{&v.A, &v.B}[j].UnmarshalText([]byte(p)); err != nil {
				return err
			}
		}
		*i = v
		return nil
	}
	return fmt.Errorf("unknown initialiser %q: want one of %s", b, strings.Join(initNames[:], ", "))
}
