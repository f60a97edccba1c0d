package plural

import "testing"

func TestList(t *testing.T) {
	for want, got := range map[string]string{
		"rank 1": List("rank", []int{1}), "ranks 0, 1": List("rank", []int{0, 1}), "ranks 0, 2–7": List("rank", []int{0, 2, 3, 4, 5, 6, 7}),
		"processes 9, 3–5": List("process", []int{9, 3, 4, 5}), "lanes ": List("lane", nil),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 row": Count(1, "row"), "0 rows": Count(0, "row"), "2 missing values": Count(2, "missing value"),
		"1 class": Count(1, "class"), "3 classes": Count(3, "class"), "2 boxes": Count(2, "box"), "4 batches": Count(4, "batch"),
		"18446744073709551615 bytes": Count(^uint64(0), "byte"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
