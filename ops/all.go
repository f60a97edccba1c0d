package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// list has every operation, with no attributes. A new one is a file and a line
// here.
var list = []Op{
	abs{},
	acos{},
	acosh{},
	add{},
	allOver{},
	and{},
	anyOver{},
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
	convInteger{},
	convKernel{},
	copyRanks{},
	cos{},
	custom{},
	detSign{},
	cosh{},
	cumArg{},
	diffDot{},
	digamma{},
	div{},
	dynamicSlice{},
	dynamicUpdate{},
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
	lgamma{},
	log{},
	log10{},
	log1p{},
	logDet{},
	log2{},
	logSigmoid{},
	logSoftmax{},
	logSumExp{},
	matMul{},
	matMulInteger{},
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
	polygamma{},
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
	searchSorted{},
	sigmoid{},
	sign{},
	sin{},
	sinh{},
	slice{},
	softmax{},
	softplus{},
	solve{},
	solveTriangular{},
	sparsemax{},
	sqDist{},
	sqrt{},
	square{},
	standardise{},
	stopGradient{},
	sub{},
	sum{},
	sumRanks{},
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

// List returns every operation of this package, in order of name.
func List() []Op {
	out := slices.Clone(list)
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
	for _, op := range List() {
		out = append(out, op)
	}
	return out
}
