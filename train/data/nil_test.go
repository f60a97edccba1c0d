package data_test

import (
	"bytes"
	"errors"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/array"
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
		if err := array.WriteNPY(&b, tensor.New(tensor.WithShape(3, 2), tensor.WithBacking(make([]float64, 6)))); err != nil {
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
			"Builtin": data.Builtin, "CarryOver": data.CarryOver, "Centre": data.Centre, "Generated": data.Generated,
			"Clusters": data.Clusters, "Codes": data.Codes, "Comment": data.Comment,
			"Concat": data.Concat, "Consecutive": data.Consecutive,
			"Delimiter": data.Delimiter, "Describe": data.Describe, "Endless": data.Endless, "Digits": data.Digits, "Drawn": data.Drawn,
			"DropLast": data.DropLast, "Fill": data.Fill,
			"FillMean": data.FillMean, "FillMedian": data.FillMedian, "FitChannels": data.FitChannels,
			"FitStandardiser": data.FitStandardiser, "Header": data.Header, "Ignore": data.Ignore,
			"InOrder": data.InOrder, "Iris": data.Iris, "Label": data.Label, "Map": data.Map,
			"MaxBytes": data.MaxBytes, "MaxCells": data.MaxCells, "MaxLine": data.MaxLine,
			"Missing": data.Missing, "NewSet": data.NewSet,
			"NoLabel": data.NoLabel,
			"Noise":   data.Noise, "Open": data.Open, "OpenCSV": data.OpenCSV, "OpenRecords": data.OpenRecords,
			"Order": data.Order, "Prefetch": data.Prefetch, "ReadCSV": data.ReadCSV, "ReplaceNaN": data.ReplaceNaN,
			"Scale": data.Scale, "Share": data.Share, "Shuffled": data.Shuffled, "Standardise": data.Standardise,
			"Targets": data.Targets, "Where": data.Where, "Window": data.Window,
			"Windows": data.Windows, "Wine": data.Wine, "WriteCSV": data.WriteCSV,
		},
		Types: []any{
			data.Buckets{}, data.Cut{}, data.Batch{}, data.CSVFile{}, data.Error{},
			data.Position{}, data.Prefetched{}, data.Records{}, data.Set{}, data.Standardiser{},
			data.Table{},
		},
		Samples: func() []any {
			table := data.Iris()
			set, err := table.Set("x", "y", tensor.Float64)
			if err != nil {
				t.Fatal(err)
			}
			ahead, closed := data.Prefetch(data.InOrder(set, 8), 1), data.Prefetch(data.InOrder(set, 8), 1)
			closed.Close()
			t.Cleanup(func() { ahead.Close() })
			return []any{csv, closedCSV, records, closedRecords,
				table, set, data.InOrder(set, 8), ahead, closed, set.NewBatch(2), set.Column("x"), new(bytes.Buffer), "x", []int{1, 2}, 2, 0.5, tensor.Float64}
		},
	})
}
