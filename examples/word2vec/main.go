// Word2vec learns vectors of words from the company that they keep in the Constitution of
// the United States: a skip-gram with negative sampling. It lists the words nearest to a
// few, draws a map of the frequent ones, and measures what the vectors know of sentences
// that were held out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// asked are the words whose nearest words are listed.
var asked = strings.Fields("president congress senate states law power shall he two years vote trial")

func main() {
	epochs := lesson.Count("epochs", 1, 40, "passes over the text")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		c, err := read(text.Constitution())
		if err != nil {
			return err
		}
		company, err := c.company()
		if err != nil {
			return err
		}
		fmt.Printf("%d sentences of %d words; %d held out with %d pairs\n", len(c.sentence), c.words.Len(), len(c.held), company.Rows())
		learnt, err := learn(ctx, c, l.Seed, l.Workers, l.Few(*epochs, 2))
		if err != nil {
			return err
		}
		for _, word := range asked {
			before, err := learnt.before.nearest(word, 2)
			if err != nil {
				return err
			}
			after, err := learnt.after.nearest(word, 5)
			if err != nil {
				return err
			}
			fmt.Printf("%-10s %-52s (before: %s)\n", word, after, before)
		}
		last := learnt.last()
		byFrequency := unigram(c.words, company.Column("o").Int32s())
		fmt.Printf("loss %.3f\n", last.loss)
		fmt.Printf("held out, by frequency alone: %.3f nats, rank %.4g\n", byFrequency.nats, byFrequency.rank)
		fmt.Printf("held out, by the word near it: %.3f nats\n", last.nats)
		words, err := learnt.after.atlas(100)
		loss, place := learnt.curves(byFrequency.rank)
		return errors.Join(err,
			l.AtMost("rank", last.rank, 55),
			l.Draw("skip-gram.svg", c.build(batch, train.Training).Loss),
			l.Picture("words.svg", func(w io.Writer) error { return chart.Panels(w, 1, words) }),
			l.Picture("learning.svg", func(w io.Writer) error { return chart.Panels(w, 2, loss, place) }),
		)
	})
}
