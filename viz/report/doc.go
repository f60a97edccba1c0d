// Package report writes the page of a comparison: one self-contained HTML file that tells a
// newcomer how training objectives differ on real data.
//
// It takes a [Page], plain values that know nothing of graphs, tapes or experiments, and writes
// the file:
//
//	err := report.Page{
//		Data:     report.Data{Name: "iris", Rows: 150, Features: names},
//		Setup:    report.Setup{K: 3, Steps: 200},
//		Variants: []report.Method{softKMeans, goofy},
//	}.Write(w)
//
// [Page.WriteFragment] writes the same as an element for another page, such as a notebook's.
//
// The package guarantees:
//
//   - The file needs no network: styles, charts and the one script are inside,
//     and a content security policy forbids everything else.
//   - One slider moves all charts of the steps of training, and the centres in the plots, to what
//     was recorded at a step, and one for each setting to the trainings with its values. Without
//     script, and on paper, the page shows the ends.
//   - Every sentence about results is computed from the page's numbers. A section
//     without data is left out; a value that is not finite is shown as "–".
//   - It can be read in light and dark, on a phone, in print, in greyscale, with
//     a keyboard, with a screen reader, and without script.
//   - The numbers are also there for machines: the JSON text of the element with
//     the id "data" has the page's fields to seven digits, with null for values that
//     are not finite. A curve is its steps and their numbers, {"Step": […], "Value": […]};
//     of a long one, it has the ends, the extremes of equal parts, and every step that
//     the page names.
//   - Equal pages give equal bytes. No value panics: a contradictory page is an
//     error, and names may contain anything. Nothing is written on an error.
package report
