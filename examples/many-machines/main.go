// Many-machines trains two nets on 1, 2, 4 and 8 ranks, the processes of one job, and shows that
// what is learnt has the same bits on any number of them, also if that number changes on the way.
//
// By itself it starts the ranks on this machine. With -ranks it is one of the ranks of a job:
//
//	mpirun -n 4 many-machines -ranks mpi
//	many-machines -ranks tcp://127.0.0.1:7070 -rank 0/2
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

func main() {
	which := lesson.Choice("net", []string{"all", "digits", "gpt"}, "which net to train: all, digits or gpt")
	lanes := lesson.Count("lanes", 1, 8, "lanes that a batch is cut into; the ranks must divide them")
	steps := lesson.Count("steps", 0, 0, "steps of training (0: 400 for digits, 60 for gpt)")
	at := flag.String("ranks", "", "be one of the ranks of a job: mpi, or where rank 0 listens, `tcp://HOST:PORT` or unix:///PATH (default: start ranks on this machine)")
	place := flag.String("rank", "", "which `rank` this is, of how many, for -ranks with an address: 0/2")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		nets, err := named(*which)
		if err != nil {
			return err
		}
		for i := range nets {
			if *steps > 0 {
				nets[i].steps = *steps
			}
			nets[i].steps = l.Few(nets[i].steps, 6)
		}
		if *at != "" {
			return rank(ctx, l, nets, *at, *place, *lanes)
		}
		if err := draw(ctx, l, *lanes); err != nil {
			return err
		}
		for _, n := range nets {
			if err := compared(ctx, l, n, *lanes); err != nil {
				return err
			}
		}
		return nil
	})
}

// compared trains a net on several numbers of ranks, and once more on a number that changes twice.
func compared(ctx context.Context, l *lesson.Lesson, n net, lanes int) error {
	fmt.Printf("%s: %s in %s\n", n.name, n.title, plural.Count(lanes, "lane"))
	counts := []int{1, 2, 4, 8}
	if l.Quick {
		counts = []int{1, 2}
	}
	counts = slices.DeleteFunc(counts, func(ranks int) bool { return lanes%ranks != 0 })
	var first outcome
	for i, ranks := range counts {
		o, err := job{n, lanes, ranks, n.steps, ""}.run(ctx, l)
		if err != nil {
			return err
		}
		fmt.Println(o)
		if i == 0 {
			first = o
		}
		if o.bits != first.bits {
			return fmt.Errorf("%s: other bits on %s", n.name, plural.Count(ranks, "rank"))
		}
	}
	folder, err := os.MkdirTemp("", "many-machines")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	most := counts[len(counts)-1]
	changing := []int{1, most, counts[len(counts)/2]}
	changing = changing[:min(len(changing), n.steps)] // each takes a step
	var last outcome
	for i, ranks := range changing {
		if last, err = (job{n, lanes, ranks, n.steps * (i + 1) / len(changing), folder}).run(ctx, l); err != nil {
			return err
		}
		fmt.Println(last)
	}
	if last.bits != first.bits {
		return fmt.Errorf("%s: other bits after restarts on %v ranks", n.name, changing)
	}
	fmt.Printf("%s: the same bits on %s ranks, and on %s after restarts\n", n.name, listed(counts), listed(changing))
	return l.AtMost(n.name+": loss", first.loss, n.loss)
}

// listed is numbers as 1, 2, 4.
func listed(n []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(n), "[]"), " ", ", ")
}

// cores is how many cores each of some ranks on this machine uses.
func cores(l *lesson.Lesson, ranks int) int {
	if l.Workers > 0 {
		return l.Workers
	}
	return max(1, runtime.GOMAXPROCS(0)/ranks)
}
