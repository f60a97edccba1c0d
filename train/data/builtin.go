package data

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

//go:embed digits.csv iris.csv wine.csv
var files embed.FS

// Iris returns Fisher's iris flowers: 150 rows of sepal and petal lengths and
// widths in centimetres, 50 of each of 3 species.
//
// Source: R. A. Fisher, Iris, UCI Machine Learning Repository, 1936,
// doi:10.24432/C56C76, licence CC BY 4.0; rows 35 and 38 read as in Fisher's paper.
func Iris() *Table { return embedded("iris") }

// Digits returns handwritten digits: 1797 images of 8×8 pixels (columns p0 to
// p63, row after row, ink from 0 to 16), labelled 0 to 9.
//
// Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits,
// UCI Machine Learning Repository, 1998, doi:10.24432/C50P49, licence CC BY 4.0;
// the test part.
func Digits() *Table { return embedded("digits") }

// Wine returns the chemical analysis of 178 wines in 13 quantities, from 3
// cultivars labelled 0 to 2.
//
// Source: S. Aeberhard and M. Forina, Wine, UCI Machine Learning Repository,
// 1992, doi:10.24432/C5PC7J, licence CC BY 4.0.
func Wine() *Table { return embedded("wine") }

// Builtin returns the built-in table of that name: digits, iris, wine, or clusters, which is
// Clusters(1, 3, 150, 1). An unknown name is an error.
func Builtin(name string) (*Table, error) {
	names := []string{"clusters", "digits", "iris", "wine"}
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("no built-in table %s%s; there are %s",
			input.Quote(name), input.DidYouMean(name, names), strings.Join(names, ", "))
	}
	if name == "clusters" {
		return Clusters(1, 3, 150, 1), nil
	}
	return embedded(name), nil
}

// embedded reads an embedded file. It panics only if the file is broken, a bug of this package.
func embedded(name string) *Table {
	f, err := files.Open(name + ".csv")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	t, err := ReadCSV(name+".csv", f)
	if err != nil {
		panic(err)
	}
	return t
}
