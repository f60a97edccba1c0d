package page

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
)

// UnmarshalJSON reads what MarshalJSON writes.
func (v *number) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) == nil {
		text = []byte(s)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	*v = number(f)
	return err
}

func TestNumber(t *testing.T) {
	for v, want := range map[number]string{1.5: "1.5", 0: "0", number(math.Inf(1)): `"+Inf"`, number(math.Inf(-1)): `"-Inf"`, 1e-7: "1e-7"} {
		if b, err := json.Marshal(v); err != nil || string(b) != want {
			t.Errorf("%v is written as %s (%v), want %s", float64(v), b, err, want)
		}
	}
	if b, err := json.Marshal(number(math.NaN())); err != nil || string(b) != `"NaN"` {
		t.Errorf("NaN is written as %s (%v)", b, err)
	}
}
