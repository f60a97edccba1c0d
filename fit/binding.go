package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/columns"
)

// Binding says which columns an input reads, side by side in their order.
//
// An input of floats reads numbers, arrays and classes. Classes become ones and zeros (one-hot) if
// their names are not numbers, or if they are the input's only column and it has an axis besides
// that of the rows; otherwise they are read as the numbers that they are called. An input of whole
// numbers reads the codes of classes (0, 1, … in the order of their names in Classes), whole
// numbers, or windows of a text. A mask reads numbers that are 0 or 1.
type Binding struct {
	Input   string   `json:"input"`
	Columns []string `json:"columns"`

	// The other fields are results of [To], and empty in [Options].

	Classes map[string][]string `json:"classes,omitempty"` // by column, the names of classes that are read as codes or one-hot
	Mean    []float64           `json:"mean,omitempty"`    // of each number of a row, if the input is standardised
	Std     []float64           `json:"std,omitempty"`     // standard deviation of each number of a row, likewise
	Missing []float64           `json:"missing,omitempty"` // substitute for a missing value of each number of a row
}

// ParseBinding reads INPUT=COLUMN,COLUMN,… with at least one column. Spaces around names do not
// count.
func ParseBinding(s string) (Binding, error) {
	input, columns, ok := strings.Cut(s, "=")
	b := Binding{Input: strings.TrimSpace(input)}
	for _, c := range strings.Split(columns, ",") {
		if c = strings.TrimSpace(c); c != "" {
			b.Columns = append(b.Columns, c)
		}
	}
	if !ok || b.Input == "" || len(b.Columns) == 0 {
		return b, fmt.Errorf("binding %q: want INPUT=COLUMN,COLUMN,…", s)
	}
	return b, nil
}

// String returns INPUT=COLUMN,COLUMN,…, without the results of [To].
func (b Binding) String() string { return b.Input + "=" + strings.Join(b.Columns, ",") }

// MetaBindings is the name of the text in a checkpoint that says how its inputs read columns: a
// list of [Binding] in JSON.
const MetaBindings = "bindings"

// Meta returns the text for a checkpoint that says how its inputs read columns, by its name,
// [MetaBindings]. [Parse] reads it.
func Meta(bindings ...Binding) map[string]string {
	text, _ := json.Marshal(bindings) // of strings and finite numbers
	return map[string]string{MetaBindings: string(text)}
}

// Parse returns the bindings in a checkpoint's texts, or nil if there are none.
func Parse(meta map[string]string) ([]Binding, error) {
	text, ok := meta[MetaBindings]
	if !ok {
		return nil, nil
	}
	var out []Binding
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("%s: %w", MetaBindings, err)
	}
	for _, b := range out {
		if b.Input == "" || len(b.Columns) == 0 {
			return nil, fmt.Errorf("%s: a binding without an input or without columns", MetaBindings)
		}
	}
	return out, nil
}

// Read returns the rows of an input, as a set with one column of the input's name. The type row is
// that of the input without its first axis. The values are prepared as in training: with the same
// columns, codes of classes, means and deviations. A class that training did not have is an error
// that names its line or row; so is a missing value without a substitute.
func (b Binding) Read(c *columns.Columns, row graph.Type) (*data.Set, error) {
	if c == nil {
		return nil, errors.New("fit: there are no data")
	}
	v, err := b.values(c, row)
	if err != nil {
		return nil, err
	}
	if err := v.prepare(b); err != nil {
		return nil, err
	}
	t, err := v.tensor(row)
	if err != nil {
		return nil, err
	}
	return setOf(b.Input, t)
}
