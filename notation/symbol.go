package notation

import "strings"

// greek are the letters that may be written out.
var greek = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
	"iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ",
	"sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
	"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}

// Symbol is the name by which formulas and drawings know a quantity: gamma is γ,
// sigma_2 is σ_2, any other name is itself. Two spellings of one symbol are one name.
func Symbol(name string) string {
	word, rest, more := strings.Cut(name, "_")
	letter, ok := greek[word]
	switch {
	case !ok:
		return name
	case more:
		return letter + "_" + rest
	}
	return letter
}

// spelled is a name without Greek letters, as a command line takes it: γ is gamma.
func spelled(name string) string {
	word, rest, more := strings.Cut(name, "_")
	for k, letter := range greek {
		if letter == word {
			word = k // one word has the letter, so the order of the map does not show
		}
	}
	if more {
		return word + "_" + rest
	}
	return word
}
