// Package greek names the letters of the Greek alphabet, for people without a Greek keyboard.
package greek

import "strings"

// letters has the letters that LaTeX has a command for, and ο. Capitals that look Latin have
// none.
var letters = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
	"iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ",
	"sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
	"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ",
	"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}

var names = map[string]string{}

func init() {
	for name, letter := range letters {
		names[letter] = name
	}
}

// Name returns the name of a letter: alpha of α, Delta of Δ; ok is false for any other text.
func Name(letter string) (name string, ok bool) {
	name, ok = names[letter]
	return name, ok
}

// Symbol returns the symbol that a name spells: γ for gamma, σ_2 for sigma_2. Any other name is
// returned unchanged.
func Symbol(name string) string { return first(name, letters) }

// Spelled returns a symbol in Latin letters: gamma for γ, sigma_2 for σ_2. It undoes [Symbol];
// any other name is returned unchanged.
func Spelled(symbol string) string { return first(symbol, names) }

// first replaces the part before the first underscore, if the table has it.
func first(name string, table map[string]string) string {
	word, rest, more := strings.Cut(name, "_")
	if other, ok := table[word]; ok {
		word = other
	}
	if more {
		return word + "_" + rest
	}
	return word
}
