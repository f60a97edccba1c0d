package main

import "testing"

// TestSpelt: equal neighbours are one letter, and none between them makes two.
func TestSpelt(t *testing.T) {
	for said, want := range map[string]string{"": "", "--": "", "aab": "ab", "a-a": "aa", "-aa-bb-b-": "abb", "iih": "ih"} {
		logp := make([]float32, len(said)*classes)
		for i, letter := range said {
			class := 0
			if letter != '-' {
				class = int(letter-'a') + 1
			}
			logp[i*classes+class] = 1
		}
		if got := written(spelt(logp)...); got != want {
			t.Errorf("%q spells %q, want %q", said, got, want)
		}
	}
}
