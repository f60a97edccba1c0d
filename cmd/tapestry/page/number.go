package page

import (
	"encoding/json"
	"math"
)

// number is a float64 in JSON. Numbers that JSON lacks are the strings "NaN", "+Inf" and "-Inf".
type number float64

// MarshalJSON prints the shortest decimal that reads back as the same bits.
func (v number) MarshalJSON() ([]byte, error) {
	switch f := float64(v); {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Inf"`), nil
	default:
		return json.Marshal(f)
	}
}

func numbers(v []float64) []number {
	out := make([]number, len(v))
	for i, x := range v {
		out[i] = number(x)
	}
	return out
}
