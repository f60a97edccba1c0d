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
// An input of floats reads numbers, arrays, and classes as ones and zeros (one-hot) where their
// names are not numbers or it is as wide as there are classes. An input of whole numbers reads the
// codes of classes, whole numbers, or windows of a text.
type Binding struct {
	Input   string   `json:"input"`
	Columns []string `json:"columns"`

	// What [To] finds; whoever binds leaves it empty.

	Classes map[string][]string `json:"classes,omitempty"` // names of the classes, by column, that are read as codes or one-hot
	Mean    []float64           `json:"mean,omitempty"`    // of each number of a row, and
	Std     []float64           `json:"std,omitempty"`     // its deviation, where the input is standardised
	Missing []float64           `json:"missing,omitempty"` // what stands for a missing value of each number of a row
}

// ParseBinding reads INPUT=COLUMN,COLUMN,…
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

// String gives INPUT=COLUMN,COLUMN.
func (b Binding) String() string { return b.Input + "=" + strings.Join(b.Columns, ",") }

// MetaBindings is the name of the text in a checkpoint that says how its inputs read columns: a
// list of [Binding] in JSON.
const MetaBindings = "bindings"

// Meta are the texts of a checkpoint that say how its inputs read columns, which [Parse] reads.
func Meta(bindings ...Binding) map[string]string {
	text, _ := json.Marshal(bindings) // of strings and finite numbers
	return map[string]string{MetaBindings: string(text)}
}

// Parse reads the bindings of a checkpoint's texts; nil where there are none.
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

// Read gives the rows of an input of the given type, without its axis of rows, as they were
// prepared in training: the same columns, codes of classes, mean and deviation. A class that was
// not there in training is an error that names its row.
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
