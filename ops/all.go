package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// all lists every operation, with no attributes. A new one is a file and a line
// here.
var all = []Op{
	abs{},
	acos{},
	acosh{},
	add{},
	and{},
	argMax{},
	argMin{},
	argSort{},
	asin{},
	asinh{},
	atan{},
	atan2{},
	atanh{},
	broadcast{},
	cast{},
	cholesky{},
	ceil{},
	choose{},
	concat{},
	conv{},
	convInput{},
	convKernel{},
	cos{},
	custom{},
	detSign{},
	cosh{},
	cumArg{},
	diffDot{},
	div{},
	eigh{},
	equal{},
	erf{},
	erfc{},
	erfinv{},
	exp{},
	exp2{},
	expm1{},
	firstEqual{},
	floor{},
	floorDiv{},
	fft{},
	gather{},
	implicit{},
	inRange{},
	less{},
	lessEqual{},
	log{},
	log10{},
	log1p{},
	logDet{},
	log2{},
	logSigmoid{},
	logSoftmax{},
	logSumExp{},
	matMul{},
	matrixExp{},
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
	qr{},
	random{},
	recurrence{},
	relu{},
	remainder{},
	reshape{},
	round{},
	rstd{},
	scan{},
	scatter{},
	scatterAdd{},
	sigmoid{},
	sign{},
	sin{},
	sinh{},
	slice{},
	softmax{},
	softplus{},
	solve{},
	solveTriangular{},
	sqDist{},
	sqrt{},
	square{},
	standardise{},
	stopGradient{},
	sub{},
	sum{},
	sumPool{},
	sumUnpool{},
	tan{},
	svd{},
	tanh{},
	transpose{},
	trunc{},
	weightedDiff{},
	xlogy{},
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
