//go:build !noasm

package simd

import "math"

// loops32 gives the loops of a level for float32, nil if it has none of its own.
func loops32(level Level) *loops {
	switch level {
	case AVX2:
		return &float32AVX2
	case AVX512:
		return &float32AVX512
	}
	return nil
}

// loops64 gives the loops of a level for float64, nil if it has none of its own.
func loops64(level Level) *loops {
	switch level {
	case AVX2:
		return &float64AVX2
	case AVX512:
		return &float64AVX512
	}
	return nil
}

var float32AVX2 = loops{
	maps: [functions]Map{
		Sin:        periodic[float32](sin32AVX2, math.Sin),
		Cos:        periodic[float32](cos32AVX2, math.Cos),
		Neg:        neg32AVX2,
		Abs:        abs32AVX2,
		Sign:       sign32AVX2,
		Square:     square32AVX2,
		Relu:       relu32AVX2,
		Sqrt:       sqrt32AVX2,
		Rsqrt:      rsqrt32AVX2,
		Reciprocal: reciprocal32AVX2,
		Exp:        exp32AVX2,
		Expm1:      expm132AVX2,
		Log:        log32AVX2,
		Log1p:      log1p32AVX2,
		Tanh:       tanh32AVX2,
		Sigmoid:    sigmoid32AVX2,
		Softplus:   softplus32AVX2,
		LogSigmoid: logSigmoid32AVX2,
		Erf:        erf32AVX2,
	},
	zips: [operations]Zips{
		Add: {add32AVX2, addY32AVX2, addX32AVX2},
		Sub: {sub32AVX2, subY32AVX2, subX32AVX2},
		Mul: {mul32AVX2, mulY32AVX2, mulX32AVX2},
		Div: {div32AVX2, divY32AVX2, divX32AVX2},
		Max: {max32AVX2, maxY32AVX2, maxX32AVX2},
		Min: {min32AVX2, minY32AVX2, minX32AVX2},
	},
	relations: [relations]Zips{
		Less:     {less32AVX2, lessY32AVX2, lessX32AVX2},
		LessEq:   {lessEq32AVX2, lessEqY32AVX2, lessEqX32AVX2},
		Equal:    {equal32AVX2, equalY32AVX2, equalX32AVX2},
		NotEqual: {notEqual32AVX2, notEqualY32AVX2, notEqualX32AVX2},
	},
	folds: [reductions]Fold{
		SumOf:        rowSum32AVX2,
		SumSquaresOf: rowSumSquares32AVX2,
		MaxOf:        rowMax32AVX2,
		MinOf:        rowMin32AVX2,
	},
	choose:      Mixes{choose32AVX2, chooseY32AVX2, chooseX32AVX2, chooseXY32AVX2},
	copy:        copy32AVX2,
	spread:      spread32AVX2,
	dot:         rowDot32AVX2,
	columnSum:   columnSum32AVX2,
	columnAdd:   columnAdd32AVX2,
	columnMax:   columnMax32AVX2,
	columnMin:   columnMin32AVX2,
	deviation:   rowDeviation32AVX2,
	standardise: standardise32AVX2,
	rowIndex:    rowIndex32AVX2,
	weight:      weight32AVX2,
	expSum:      expSum32AVX2,
	fromInt:     fromInt32AVX2,
	toInt:       toInt32AVX2,
	fromBool:    fromBool32AVX2,
}

var float32AVX512 = loops{
	maps: [functions]Map{
		Sin:        periodic[float32](sin32AVX512, math.Sin),
		Cos:        periodic[float32](cos32AVX512, math.Cos),
		Neg:        neg32AVX512,
		Abs:        abs32AVX512,
		Sign:       sign32AVX512,
		Square:     square32AVX512,
		Relu:       relu32AVX512,
		Sqrt:       sqrt32AVX512,
		Rsqrt:      rsqrt32AVX512,
		Reciprocal: reciprocal32AVX512,
		Exp:        exp32AVX512,
		Expm1:      expm132AVX512,
		Log:        log32AVX512,
		Log1p:      log1p32AVX512,
		Tanh:       tanh32AVX512,
		Sigmoid:    sigmoid32AVX512,
		Softplus:   softplus32AVX512,
		LogSigmoid: logSigmoid32AVX512,
		Erf:        erf32AVX512,
	},
	zips: [operations]Zips{
		Add: {add32AVX512, addY32AVX512, addX32AVX512},
		Sub: {sub32AVX512, subY32AVX512, subX32AVX512},
		Mul: {mul32AVX512, mulY32AVX512, mulX32AVX512},
		Div: {div32AVX512, divY32AVX512, divX32AVX512},
		Max: {max32AVX512, maxY32AVX512, maxX32AVX512},
		Min: {min32AVX512, minY32AVX512, minX32AVX512},
	},
	relations: [relations]Zips{
		Less:     {less32AVX512, lessY32AVX512, lessX32AVX512},
		LessEq:   {lessEq32AVX512, lessEqY32AVX512, lessEqX32AVX512},
		Equal:    {equal32AVX512, equalY32AVX512, equalX32AVX512},
		NotEqual: {notEqual32AVX512, notEqualY32AVX512, notEqualX32AVX512},
	},
	folds: [reductions]Fold{
		SumOf:        rowSum32AVX512,
		SumSquaresOf: rowSumSquares32AVX512,
		MaxOf:        rowMax32AVX512,
		MinOf:        rowMin32AVX512,
	},
	choose:      Mixes{choose32AVX512, chooseY32AVX512, chooseX32AVX512, chooseXY32AVX512},
	copy:        copy32AVX512,
	spread:      spread32AVX512,
	dot:         rowDot32AVX512,
	columnSum:   columnSum32AVX512,
	columnAdd:   columnAdd32AVX512,
	columnMax:   columnMax32AVX512,
	columnMin:   columnMin32AVX512,
	deviation:   rowDeviation32AVX512,
	standardise: standardise32AVX512,
	rowIndex:    rowIndex32AVX512,
	weight:      weight32AVX512,
	expSum:      expSum32AVX512,
	fromInt:     fromInt32AVX512,
	toInt:       toInt32AVX512,
	fromBool:    fromBool32AVX512,
}

var float64AVX2 = loops{
	maps: [functions]Map{
		Sin:        periodic[float64](sin64AVX2, math.Sin),
		Cos:        periodic[float64](cos64AVX2, math.Cos),
		Neg:        neg64AVX2,
		Abs:        abs64AVX2,
		Sign:       sign64AVX2,
		Square:     square64AVX2,
		Relu:       relu64AVX2,
		Sqrt:       sqrt64AVX2,
		Rsqrt:      rsqrt64AVX2,
		Reciprocal: reciprocal64AVX2,
		Exp:        exp64AVX2,
		Expm1:      expm164AVX2,
		Log:        log64AVX2,
		Log1p:      log1p64AVX2,
		Tanh:       tanh64AVX2,
		Sigmoid:    sigmoid64AVX2,
		Softplus:   softplus64AVX2,
		LogSigmoid: logSigmoid64AVX2,
		Erf:        erf64AVX2,
	},
	zips: [operations]Zips{
		Add: {add64AVX2, addY64AVX2, addX64AVX2},
		Sub: {sub64AVX2, subY64AVX2, subX64AVX2},
		Mul: {mul64AVX2, mulY64AVX2, mulX64AVX2},
		Div: {div64AVX2, divY64AVX2, divX64AVX2},
		Max: {max64AVX2, maxY64AVX2, maxX64AVX2},
		Min: {min64AVX2, minY64AVX2, minX64AVX2},
	},
	relations: [relations]Zips{
		Less:     {less64AVX2, lessY64AVX2, lessX64AVX2},
		LessEq:   {lessEq64AVX2, lessEqY64AVX2, lessEqX64AVX2},
		Equal:    {equal64AVX2, equalY64AVX2, equalX64AVX2},
		NotEqual: {notEqual64AVX2, notEqualY64AVX2, notEqualX64AVX2},
	},
	folds: [reductions]Fold{
		SumOf:        rowSum64AVX2,
		SumSquaresOf: rowSumSquares64AVX2,
		MaxOf:        rowMax64AVX2,
		MinOf:        rowMin64AVX2,
	},
	choose:      Mixes{choose64AVX2, chooseY64AVX2, chooseX64AVX2, chooseXY64AVX2},
	copy:        copy64AVX2,
	spread:      spread64AVX2,
	dot:         rowDot64AVX2,
	columnSum:   columnSum64AVX2,
	columnAdd:   columnSum64AVX2,
	columnMax:   columnMax64AVX2,
	columnMin:   columnMin64AVX2,
	deviation:   rowDeviation64AVX2,
	standardise: standardise64AVX2,
	rowIndex:    rowIndex64AVX2,
	weight:      weight64AVX2,
	expSum:      expSum64AVX2,
	fromInt:     fromInt64AVX2,
	toInt:       toInt64AVX2,
	fromBool:    fromBool64AVX2,
	fromFloat:   fromFloat64AVX2,
	toFloat:     toFloat64AVX2,
}

var float64AVX512 = loops{
	maps: [functions]Map{
		Sin:        periodic[float64](sin64AVX512, math.Sin),
		Cos:        periodic[float64](cos64AVX512, math.Cos),
		Neg:        neg64AVX512,
		Abs:        abs64AVX512,
		Sign:       sign64AVX512,
		Square:     square64AVX512,
		Relu:       relu64AVX512,
		Sqrt:       sqrt64AVX512,
		Rsqrt:      rsqrt64AVX512,
		Reciprocal: reciprocal64AVX512,
		Exp:        exp64AVX512,
		Expm1:      expm164AVX512,
		Log:        log64AVX512,
		Log1p:      log1p64AVX512,
		Tanh:       tanh64AVX512,
		Sigmoid:    sigmoid64AVX512,
		Softplus:   softplus64AVX512,
		LogSigmoid: logSigmoid64AVX512,
		Erf:        erf64AVX512,
	},
	zips: [operations]Zips{
		Add: {add64AVX512, addY64AVX512, addX64AVX512},
		Sub: {sub64AVX512, subY64AVX512, subX64AVX512},
		Mul: {mul64AVX512, mulY64AVX512, mulX64AVX512},
		Div: {div64AVX512, divY64AVX512, divX64AVX512},
		Max: {max64AVX512, maxY64AVX512, maxX64AVX512},
		Min: {min64AVX512, minY64AVX512, minX64AVX512},
	},
	relations: [relations]Zips{
		Less:     {less64AVX512, lessY64AVX512, lessX64AVX512},
		LessEq:   {lessEq64AVX512, lessEqY64AVX512, lessEqX64AVX512},
		Equal:    {equal64AVX512, equalY64AVX512, equalX64AVX512},
		NotEqual: {notEqual64AVX512, notEqualY64AVX512, notEqualX64AVX512},
	},
	folds: [reductions]Fold{
		SumOf:        rowSum64AVX512,
		SumSquaresOf: rowSumSquares64AVX512,
		MaxOf:        rowMax64AVX512,
		MinOf:        rowMin64AVX512,
	},
	choose:      Mixes{choose64AVX512, chooseY64AVX512, chooseX64AVX512, chooseXY64AVX512},
	copy:        copy64AVX512,
	spread:      spread64AVX512,
	dot:         rowDot64AVX512,
	columnSum:   columnSum64AVX512,
	columnAdd:   columnSum64AVX512,
	columnMax:   columnMax64AVX512,
	columnMin:   columnMin64AVX512,
	deviation:   rowDeviation64AVX512,
	standardise: standardise64AVX512,
	rowIndex:    rowIndex64AVX512,
	weight:      weight64AVX512,
	expSum:      expSum64AVX512,
	fromInt:     fromInt64AVX512,
	toInt:       toInt64AVX512,
	fromBool:    fromBool64AVX512,
	fromFloat:   fromFloat64AVX512,
	toFloat:     toFloat64AVX512,
}
