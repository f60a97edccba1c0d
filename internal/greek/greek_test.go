package greek

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSymbol(t *testing.T) {
	for name, symbol := range map[string]string{
		"gamma": "γ", "Delta": "Δ", "sigma_2": "σ_2", "epsilon_x_y": "ε_x_y", "x": "x", "x_alpha": "x_alpha", "alphas": "alphas",
		"Alpha": "Alpha", "": "", "_": "_",
	} {
		if got := Symbol(name); got != symbol {
			t.Errorf("%s spells %s, want %s", name, got, symbol)
		}
		if got := Spelled(symbol); got != name {
			t.Errorf("%s is spelled %s, want %s", symbol, got, name)
		}
	}
}

// TestAlphabet checks that each Greek letter has one name, whose capital is the letter's.
func TestAlphabet(t *testing.T) {
	if len(names) != len(letters) {
		t.Errorf("%d letters have %d names", len(names), len(letters))
	}
	for r := 'α'; r <= 'ω'; r++ {
		if _, ok := Name(string(r)); !ok && r != 'ς' { // σ at the end of a word
			t.Errorf("%c has no name", r)
		}
	}
	for name, letter := range letters {
		initial, _ := utf8.DecodeRuneInString(name)
		r, size := utf8.DecodeRuneInString(letter)
		if size != len(letter) || !unicode.Is(unicode.Greek, r) || unicode.IsUpper(r) != unicode.IsUpper(initial) {
			t.Errorf("%s names %s", name, letter)
		}
	}
	if name, ok := Name("a"); ok {
		t.Errorf("a is Greek: %s", name)
	}
}
