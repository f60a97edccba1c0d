package data_test

import (
	"bytes"
	"errors"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
	"os"
	"path/filepath"
	"testing"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	open := func() (*data.CSVFile, *data.Records) {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path+".csv", []byte("a,b,y\n1,2,u\n3,4,v\n5,6,v\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		csv, err := data.OpenCSV(t.Context(), path+".csv", "x", "y", tensor.Float32)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := data.WriteNPY(&b, tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(make([]float64, 6)))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".npy", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		records, err := data.OpenRecords(map[string]string{"x": path + ".npy"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { csv.Close(); records.Close() })
		return csv, records
	}
	csv, records := open()
	closedCSV, closedRecords := open()
	if err := errors.Join(closedCSV.Close(), closedRecords.Close()); err != nil {
		t.Fatal(err)
	}
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"AddDuplicates": data.AddDuplicates, "Batches": data.Batches,
			"Builtin": data.Builtin, "Centre": data.Centre, "Characters": data.Characters,
			"Clusters": data.Clusters, "Codes": data.Codes, "Comment": data.Comment,
			"Concat": data.Concat, "Consecutive": data.Consecutive, "Constitution": data.Constitution,
			"Delimiter": data.Delimiter, "Describe": data.Describe, "Digits": data.Digits,
			"Directed": data.Directed, "Drawn": data.Drawn, "DropDuplicates": data.DropDuplicates,
			"DropLast": data.DropLast, "DropSelfLoops": data.DropSelfLoops, "Fill": data.Fill,
			"FillMean": data.FillMean, "FillMedian": data.FillMedian, "FitChannels": data.FitChannels,
			"FitStandardiser": data.FitStandardiser, "Header": data.Header, "Ignore": data.Ignore,
			"InOrder": data.InOrder, "Iris": data.Iris, "Karate": data.Karate,
			"KeepSelfLoops": data.KeepSelfLoops, "Label": data.Label, "Map": data.Map,
			"MaxBytes": data.MaxBytes, "MaxCells": data.MaxCells, "MaxLine": data.MaxLine,
			"Missing": data.Missing, "NewNPZWriter": data.NewNPZWriter, "NewSet": data.NewSet,
			"NoLabel": data.NoLabel, "NodeCount": data.NodeCount, "NodeNames": data.NodeNames,
			"Noise": data.Noise, "Open": data.Open, "OpenCSV": data.OpenCSV,
			"OpenEdges": data.OpenEdges, "OpenIDX": data.OpenIDX, "OpenNPY": data.OpenNPY,
			"OpenNPZ": data.OpenNPZ, "OpenRecords": data.OpenRecords, "OpenText": data.OpenText,
			"Order": data.Order, "Prefetch": data.Prefetch, "ReadCSV": data.ReadCSV,
			"ReadEdges": data.ReadEdges, "ReadIDX": data.ReadIDX, "ReadNPY": data.ReadNPY,
			"ReadNPZ": data.ReadNPZ, "ReadText": data.ReadText, "ReplaceNaN": data.ReplaceNaN,
			"CarryOver": data.CarryOver, "Generated": data.Generated, "Scale": data.Scale, "Shuffled": data.Shuffled, "Standardise": data.Standardise,
			"Targets": data.Targets, "Where": data.Where, "Window": data.Window,
			"Windows": data.Windows, "Wine": data.Wine, "WriteCSV": data.WriteCSV,
			"WriteEdges": data.WriteEdges, "WriteIDX": data.WriteIDX, "WriteNPY": data.WriteNPY,
			"Beside": data.Beside, "BuiltinColumns": data.BuiltinColumns, "BuiltinNames": data.BuiltinNames,
			"NewColumns": data.NewColumns, "OpenColumns": data.OpenColumns, "ReadColumns": data.ReadColumns,
			"TextColumns": data.TextColumns,
		},
		Types: []any{data.Cut{},
			data.Batch{}, data.CSVFile{}, data.Column{}, data.Columns{}, data.Error{}, data.NPZWriter{}, data.NPZ{}, data.Network{},
			data.Position{}, data.Prefetched{}, data.Records{}, data.Set{}, data.Standardiser{},
			data.Table{}, data.Tokeniser{}, data.Vocabulary{},
		},
		Samples: func() []any {
			table := data.Iris()
			club, _ := data.Karate()
			set, err := table.Set("x", "y", tensor.Float64)
			if err != nil {
				t.Fatal(err)
			}
			ahead, closed := data.Prefetch(data.InOrder(set, 8), 1), data.Prefetch(data.InOrder(set, 8), 1)
			closed.Close()
			t.Cleanup(func() { ahead.Close() })
			var npz bytes.Buffer
			begun, ended := data.NewNPZWriter(&npz, true), data.NewNPZWriter(new(bytes.Buffer), true)
			if err := errors.Join(begun.Write("x", set.Column("x")), begun.Close(), ended.Close()); err != nil {
				t.Fatal(err)
			}
			archive, err := data.ReadNPZ("a.npz", bytes.NewReader(npz.Bytes()), int64(npz.Len()))
			if err != nil {
				t.Fatal(err)
			}
			letters, err := data.Characters("text")
			if err != nil {
				t.Fatal(err)
			}
			columns, err := data.BuiltinColumns("wine")
			if err != nil {
				t.Fatal(err)
			}
			return []any{columns, columns.Columns()[0], columns.Columns()[13], letters, archive, ended, data.NewNPZWriter(new(bytes.Buffer), false), csv, closedCSV, records, closedRecords,
				table, club, set, data.InOrder(set, 8), ahead, closed, set.NewBatch(2), set.Column("x"), new(bytes.Buffer), "x", []int{1, 2}, 2, 0.5, tensor.Float64}
		},
	})
}
