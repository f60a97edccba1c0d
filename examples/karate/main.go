// Karate predicts which of two factions each member of a karate club joined when it split, from the
// friendships and the factions of only two members, by a graph-convolutional network and by graph
// attention.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data/edges"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

func main() {
	seeds := lesson.Count("seeds", 1, 10, "trainings of each network")
	steps := lesson.Count("steps", 1, 200, "steps of training, each on the whole club")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		club, faction := edges.Karate()
		set, err := columns(club, faction)
		if err != nil {
			return err
		}
		places := layout(club)
		var clubs, courses []interface{ SVG(io.Writer) error }
		for _, m := range []network{gcn, gat} {
			var right []float64
			missed := make([]int, club.Nodes) // by member: in how many trainings he was
			for k := range *seeds {
				t := &train.Trainer{Build: m.net, Optimiser: train.Adam(0.01), Seed: l.Seed + uint64(k), Workers: l.Workers}
				defer t.Close()
				o, err := learn(ctx, t, m, set, l.Few(*steps, 20), l.Observers()...)
				if err != nil {
					return err
				}
				wrong := o.wrong(faction)
				right = append(right, float64(club.Nodes-len(wrong)))
				for _, i := range wrong {
					missed[i]++
				}
				if k == 0 {
					clubs = append(clubs, picture{m.name, club, places, faction, o})
					courses = append(courses, course(m.name, o, faction))
				}
			}
			fmt.Printf("%s: right are %v of %d\n", m.name, right, club.Nodes)
			for i, times := range missed {
				if times > 0 {
					fmt.Printf("  member %d is wrong in %d of %d trainings\n", i, times, len(right))
				}
			}
			if err := l.AtLeast(m.name+": median", lab.Median(right), 31); err != nil {
				return err
			}
		}
		return errors.Join(
			l.Draw("gcn.svg", gcn.net(club.Nodes, train.Training).Loss),
			l.Picture("club.svg", func(w io.Writer) error { return chart.Panels(w, 2, clubs...) }),
			l.Picture("course.svg", func(w io.Writer) error { return chart.Panels(w, 2, courses...) }),
		)
	})
}
