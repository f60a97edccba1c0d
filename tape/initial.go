package tape

import (
	"runtime"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/pool"
)

// begin sets the values of a leaf to those that its distribution gives at first. They depend on the
// path, on the seed and on the place of each element alone.
func begin(v graph.Value, l leaf, seed uint64) {
	offset, std, width := l.init.Distribution(l.typ.Shape.Sizes()...)
	s := starting{x: v.Data, seed: seed, offset: offset, scale: std, draw: kernel.Random{Key: kernel.KeyOf("init " + l.path), Law: kernel.LawNormal}}
	if std == 0 {
		s.scale, s.draw.Law = width, kernel.LawUniform
	}
	if units := (len(v.Data) + startingUnit - 1) / startingUnit; units > 1 && s.scale != 0 {
		crew := pool.New(runtime.GOMAXPROCS(0))
		crew.Do(units, 1, &s)
		crew.Close()
	} else {
		s.Run(0, 0, units)
	}
	if gain, ok := l.init.Orthonormal(); ok && len(v.Data) > 0 {
		columns := l.typ.Shape.Dim(l.typ.Shape.Rank() - 1)
		orthonormalise(v.Data, columns)
		for i := range v.Data {
			v.Data[i] *= gain
		}
	}
}

// starting is the task of filling x with offset + scale times the numbers of a draw.
type starting struct {
	x             []float64
	seed          uint64
	offset, scale float64
	draw          kernel.Random
}

// startingUnit is the number of elements that a worker draws at a time.
const startingUnit = 1 << 14

// Run fills units lo to hi−1.
func (s *starting) Run(_, lo, hi int) {
	from := lo * startingUnit
	part := s.x[from:min(hi*startingUnit, len(s.x))]
	if s.scale == 0 {
		for i := range part {
			part[i] = s.offset
		}
		return
	}
	s.draw.Fill(part, s.seed, 0, from)
	for i, x := range part {
		part[i] = s.offset + s.scale*x
	}
}
