package main

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

// The characters that are read and written.
var (
	textCharacters = characters(" ,./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	isoCharacters  = characters("-0123456789")
)

const (
	textLength = len("Wednesday, September 30, 1979") // no date is longer
	isoLength  = len("1979-09-30")
)

func characters(all string) *text.Vocabulary {
	v, err := text.Characters(all)
	if err != nil {
		panic(err) // of a constant
	}
	return v
}

// encoded gives pairs as columns text[n 29] and iso[n 10] of codes. A text is filled up
// with blanks, which nobody reads: length[n] says where they begin.
func encoded(pairs []pair) (*data.Set, error) {
	var text, length, iso []int32
	for _, p := range pairs {
		read, err := textCharacters.Encode(fmt.Sprintf("%-*s", textLength, p.text))
		if err != nil {
			return nil, err
		}
		said, err := isoCharacters.Encode(p.iso)
		if err != nil {
			return nil, err
		}
		text, length, iso = append(text, read...), append(length, int32(len(p.text))), append(iso, said...)
	}
	return data.NewSet(map[string]*tensor.Dense{
		"text":   tensor.New(tensor.WithShape(len(pairs), textLength), tensor.WithBacking(text)),
		"length": tensor.New(tensor.WithShape(len(pairs)), tensor.WithBacking(length)),
		"iso":    tensor.New(tensor.WithShape(len(pairs), isoLength), tensor.WithBacking(iso)),
	})
}

// decoded are the dates of codes[n 10].
func decoded(codes *tensor.Dense) ([]string, error) {
	var dates []string
	for all := codes.Data().([]int32); len(all) > 0; all = all[isoLength:] {
		date, err := isoCharacters.Decode(all[:isoLength])
		if err != nil {
			return nil, err
		}
		dates = append(dates, date)
	}
	return dates, nil
}
