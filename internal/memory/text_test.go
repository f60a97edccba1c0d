package memory

import (
	"math"
	"testing"
)

func TestText(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 3 << 19: "1.5 MiB", 5 << 30: "5.0 GiB",
		3 << 40: "3.0 TiB", math.MaxInt64: "8388608.0 TiB"} {
		if got := Text(bytes); got != want {
			t.Errorf("%d is %q, want %q", bytes, got, want)
		}
	}
}
