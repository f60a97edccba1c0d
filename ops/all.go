package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// all lists every operation, with no attributes. A new one is a file and a line
// here.
var all = []Op{
	abs{},
	add{},
	and{},
	argMax{},
	argMin{},
	asinh{},
	broadcast{},
	cast{},
	choose{},
	concat{},
	conv{},
	convInput{},
	convKernel{},
	cos{},
	diffDot{},
	div{},
	equal{},
	erf{},
	exp{},
	expm1{},
	gather{},
	inRange{},
	less{},
	lessEqual{},
	log{},
	log1p{},
	logSigmoid{},
	logSoftmax{},
	logSumExp{},
	matMul{},
	maximum{},
	maxOver{},
	maxPick{},
	maxPool{},
	maxUnpool{},
	mean{},
	minimum{},
	minOver{},
	mul{},
	neg{},
	not{},
	notEqual{},
	oneHot{},
	or{},
	place{},
	pow{},
	random{},
	relu{},
	reshape{},
	rstd{},
	scan{},
	scatterAdd{},
	sigmoid{},
	sign{},
	sin{},
	slice{},
	softmax{},
	softplus{},
	sqDist{},
	sqrt{},
	square{},
	standardise{},
	stopGradient{},
	sub{},
	sum{},
	sumPool{},
	sumUnpool{},
	tanh{},
	transpose{},
	weightedDiff{},
}

// All lists every operation in order of name.
func All() []Op {
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b Op) int {
		if a.Name() < b.Name() {
			return -1
		}
		return 1
	})
	return out
}

// Vocabulary returns all operations of this package, for [graph.Parse] to read a text form with.
func Vocabulary() []graph.Op {
	var out []graph.Op
	for _, op := range All() {
		out = append(out, op)
	}
	return out
}
