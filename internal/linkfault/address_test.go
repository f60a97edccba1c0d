package linkfault

import "testing"

// TestFreeAddress: of many addresses none is given twice.
func TestFreeAddress(t *testing.T) {
	seen := map[string]bool{}
	for range 2000 {
		a, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if seen[a] {
			t.Fatalf("%s is given twice", a)
		}
		seen[a] = true
	}
}
