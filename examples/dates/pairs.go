package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tapestry-ml/tapestry/train/data"
)

// pair is a date as somebody wrote it, and in ISO 8601: 2006-01-02.
type pair struct {
	text, iso string
	format    int  // which of formats
	known     bool // training has the date, in this format or another
}

// The dates are those of the hundred years in which two digits tell a year: 50 to 99 are
// 1950 to 1999, 00 to 49 are 2000 to 2049.
var firstDate = time.Date(1950, time.January, 1, 0, 0, 0, 0, time.UTC)

const dates = 36525 // from 1950-01-01 to 2049-12-31

// formats are how people write a date. Between dots the day comes first, as in Germany;
// between slashes the month does, as in the United States.
var formats = []func(time.Time) string{
	func(d time.Time) string { return d.Format("2 January 2006") },
	func(d time.Time) string { return strings.ToLower(d.Format("January 2 06")) },
	func(d time.Time) string { return d.Format("Monday, January 2, 2006") },
	func(d time.Time) string { return d.Format("2.1.2006") },
	func(d time.Time) string { return d.Format("01/02/06") },
	func(d time.Time) string { return "the " + ordinal(d.Day()) + d.Format(" of January 2006") },
}

// ordinal is the number of a day in a sentence: 1st, 2nd, 3rd, 4th, 11th.
func ordinal(day int) string {
	ending := "th"
	if day/10 != 1 && day%10 < 4 {
		ending = []string{"th", "st", "nd", "rd"}[day%10]
	}
	return fmt.Sprint(day, ending)
}

// drawPairs draws n pairs, all different, of the dates in all formats, and divides them into those
// for training and those to be held out. Most of the held-out dates do not occur in training in
// another format either.
func drawPairs(seed uint64, n, heldOut int) (training, held []pair) {
	known := map[string]bool{}
	for i, k := range data.Order(seed, 0, dates*len(formats))[:n] {
		date, format := firstDate.AddDate(0, 0, k/len(formats)), k%len(formats)
		p := pair{text: formats[format](date), iso: date.Format(time.DateOnly), format: format}
		if i < n-heldOut {
			known[p.iso], p.known = true, true
			training = append(training, p)
		} else {
			p.known = known[p.iso]
			held = append(held, p)
		}
	}
	return training, held
}
