package claim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind says how a claim is checked.
type Kind uint8

// The kinds of claims.
const (
	Equation   Kind = iota // equations, at random values
	Experiment             // a comparison, or whatever holds after training
	Tested                 // a test of this module says it
)

// String returns the word for the kind.
func (k Kind) String() string {
	return [...]string{"equation", "experiment", "test"}[min(int(k), 2)]
}

// Claim is a claim that was read.
type Claim struct {
	Text string
	Kind Kind
	Test string // of kind Tested: its name, or with the folder before it, train/data.TestOrder
	Says string // of kind Tested: the sentence that its comment must have

	under      conditions
	statements []string
}

// conditions say which model a quantity is of, and how it came to its values.
type conditions struct {
	model     string // with settings in braces
	optimiser string // "" for none
	rate      float64
	options   string // of the optimiser, each after a comma
	steps     int    // −1 without training
	oneBatch  bool
	with      []override
}

// override sets all elements of a leaf.
type override struct {
	name  string
	value float64
}

// key tells conditions apart.
func (c conditions) key() string {
	return fmt.Sprint(c.model, " ", c.optimiser, c.rate, c.options, " ", c.steps, c.oneBatch, c.with)
}

// Model returns the name of the model that is claimed about, without settings; "" for a test.
func (c Claim) Model() string { return strings.SplitN(c.under.model, "{", 2)[0] }

var (
	testClaim = regexp.MustCompile(`^test ((?:[\w/-]+\.)?Test\w+): (.+)$`)
	modelName = regexp.MustCompile(`^[a-z][a-z0-9-]*(?:\{[^}]*\})?`)
	condition = regexp.MustCompile(`^ (?:by ([a-z-]+)\(([0-9.e-]+)((?:, [a-z-]+ [0-9.e-]+)*)\)|after (\d+) steps|on (one batch)|with (\S+?)=([0-9.e-]+))`)
	joined    = regexp.MustCompile(`\s+and\s+`)
)

// Parse reads a claim.
func Parse(text string) (Claim, error) {
	c := Claim{Text: text, under: conditions{steps: -1}}
	if m := testClaim.FindStringSubmatch(text); m != nil {
		c.Kind, c.Test, c.Says = Tested, m[1], m[2]
		return c, nil
	}
	rest := text
	if c.under.model = modelName.FindString(rest); c.under.model == "" {
		return c, fmt.Errorf("%q begins with no model: want MODEL: STATEMENT, or test TestX: SENTENCE", text)
	}
	rest = rest[len(c.under.model):]
	for {
		m := condition.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		rest = rest[len(m[0]):]
		if err := c.under.add(m); err != nil {
			return c, fmt.Errorf("%q: %w", text, err)
		}
	}
	says, ok := strings.CutPrefix(rest, ":")
	if !ok || strings.TrimSpace(says) == "" {
		return c, fmt.Errorf("%q: want a colon and a statement instead of %q, or a condition: by OPTIMISER(RATE), after N steps, on one batch, with NAME=NUMBER", text, strings.TrimSpace(rest))
	}
	c.statements = joined.Split(strings.TrimSpace(says), -1)
	if c.under.steps >= 0 || slices.ContainsFunc(c.statements, isComparison) {
		c.Kind = Experiment
	}
	return c, nil
}

// add adds a condition, as its pattern has found it.
func (c *conditions) add(m []string) (err error) {
	switch {
	case m[1] != "":
		c.optimiser = m[1]
		c.options = m[3]
		c.rate, err = strconv.ParseFloat(m[2], 64)
	case m[4] != "":
		c.steps, err = strconv.Atoi(m[4])
	case m[5] != "":
		c.oneBatch = true
	default:
		o := override{name: m[6]}
		o.value, err = strconv.ParseFloat(m[7], 64)
		c.with = append(c.with, o)
	}
	return err
}
