package main

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestFormats: the six ways of writing a date.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		iso  string
		want []string
	}{
		{"1979-05-03", []string{"3 May 1979", "may 3 79", "Thursday, May 3, 1979", "3.5.1979", "05/03/79", "the 3rd of May 1979"}},
		{"2049-12-31", []string{"31 December 2049", "december 31 49", "Friday, December 31, 2049", "31.12.2049", "12/31/49", "the 31st of December 2049"}},
		{"1950-01-01", []string{"1 January 1950", "january 1 50", "Sunday, January 1, 1950", "1.1.1950", "01/01/50", "the 1st of January 1950"}},
		{"2000-02-29", []string{"29 February 2000", "february 29 00", "Tuesday, February 29, 2000", "29.2.2000", "02/29/00", "the 29th of February 2000"}},
	} {
		d, err := time.Parse(time.DateOnly, c.iso)
		if err != nil {
			t.Fatal(err)
		}
		for i, format := range formats {
			if got := format(d); got != c.want[i] {
				t.Errorf("format %d of %s: %q, want %q", i, c.iso, got, c.want[i])
			}
		}
	}
	var all []string
	for day := 1; day <= 31; day++ {
		all = append(all, ordinal(day))
	}
	const want = "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 13th 14th 15th 16th 17th 18th 19th 20th 21st 22nd 23rd 24th 25th 26th 27th 28th 29th 30th 31st"
	if got := strings.Join(all, " "); got != want {
		t.Errorf("ordinals: %s", got)
	}
}

// TestNoTwoMeanings: over all dates and formats, a text means one date, fits the net and
// consists of characters that have a code.
func TestNoTwoMeanings(t *testing.T) {
	means := map[string]string{}
	var all []pair
	for k := range dates {
		d := firstDate.AddDate(0, 0, k)
		iso := d.Format(time.DateOnly)
		for _, format := range formats {
			text := format(d)
			if other, ok := means[text]; ok {
				t.Fatalf("%q is %s and %s", text, other, iso)
			}
			means[text] = iso
			all = append(all, pair{text: text, iso: iso})
		}
	}
	if last := firstDate.AddDate(0, 0, dates-1).Format(time.DateOnly); last != "2049-12-31" {
		t.Errorf("the last date is %s", last)
	}
	set, err := encoded(all)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Column("text").Shape(); got[0] != len(all) || got[1] != textLength {
		t.Errorf("texts %v", got)
	}
	for i, length := range set.Column("length").Int32s() {
		if int(length) != len(all[i].text) {
			t.Fatalf("%q has %d characters", all[i].text, length)
		}
	}
	dates, err := decoded(set.Column("iso"))
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range dates {
		if d != all[i].iso {
			t.Fatalf("%s becomes %s", all[i].iso, d)
		}
	}
}

// TestHeldOut: pairs held out are not trained on; known says whether their date is, in
// another format; draws depend on the seed alone.
func TestHeldOut(t *testing.T) {
	training, held := drawPairs(7, 10_000, 1_000)
	if len(training) != 9_000 || len(held) != 1_000 {
		t.Fatalf("%d and %d pairs", len(training), len(held))
	}
	texts, trained, of := map[string]bool{}, map[string]bool{}, make([]int, len(formats))
	for _, p := range training {
		texts[p.text], trained[p.iso] = true, true
		of[p.format]++
	}
	if len(texts) != 9_000 {
		t.Errorf("%d different pairs in training", len(texts))
	}
	fresh := 0
	for _, p := range held {
		if texts[p.text] {
			t.Errorf("%q is trained on", p.text)
		}
		if p.known != trained[p.iso] {
			t.Errorf("%s: known %v", p.iso, p.known)
		}
		if !p.known {
			fresh++
		}
		of[p.format]++
	}
	if fresh < 700 || fresh > 900 { // of a date's six pairs, training has none with chance (1 − 0.04)⁵ ≈ 0.8
		t.Errorf("%d dates are new", fresh)
	}
	for format, n := range of {
		if n < 1_550 || n > 1_800 { // 1667 ± 3.5 standard deviations
			t.Errorf("format %d: %d pairs", format, n)
		}
	}
	again, _ := drawPairs(7, 10_000, 1_000)
	other, _ := drawPairs(8, 10_000, 1_000)
	if !reflect.DeepEqual(training, again) || reflect.DeepEqual(training, other) {
		t.Error("draws do not depend on the seed alone")
	}
}
