package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/tape"
)

// printQuantised shows what products of integers of a byte lose.
func printQuantised(cmd *cobra.Command, o *options, name string, s *snapshot, keep []string) error {
	var outputs []*graph.Node
	for _, y := range []*graph.Node{s.model.Output, s.model.Loss} {
		if y != nil && !slices.Contains(outputs, y) {
			outputs = append(outputs, y)
		}
	}
	q, err := quantise.Int8(cmd.Context(), s.store, []tape.Feed{s.feed}, quantise.Options{Keep: keep}, outputs...)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if !o.json {
		_, err = io.WriteString(w, q.String())
		return err
	}
	type product struct {
		Weights string     `json:"weights"`
		Error   jsonNumber `json:"relative_error"`
		Kept    bool       `json:"stays_float,omitempty"`
	}
	type result struct {
		Name  string     `json:"name"`
		Error jsonNumber `json:"relative_error"`
	}
	v := struct {
		Model    string    `json:"model"`
		Products []product `json:"products"`
		Results  []result  `json:"results"`
	}{Model: name}
	for _, p := range q.Products {
		v.Products = append(v.Products, product{p.Path, jsonNumber(p.Error), p.Kept})
	}
	for i, name := range q.Names() {
		v.Results = append(v.Results, result{name, jsonNumber(q.Errors[i])})
	}
	return printJSON(w, v)
}
