package watch_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// What Fit would tell its observers is logged, and read back.
func Example() {
	var file bytes.Buffer
	observer := watch.JSONLines(&file)
	for _, e := range []train.Event{
		{Kind: train.Begun, Steps: 2},
		{Kind: train.Stepped, Step: 1, Loss: 0.5, Rate: 0.1},
		{Kind: train.Stepped, Step: 2, Loss: 0.25, Rate: 0.1},
		{Kind: train.Ended, Step: 2},
	} {
		if err := observer.Observe(e); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Print(file.String())
	records, err := watch.ReadLog("run.jsonl", &file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(records), records[2].Loss)
	// Output:
	// {"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":2,"epochs":0}
	// {"event":"stepped","step":1,"epoch":0,"batch":0,"loss":0.5,"rate":0.1}
	// {"event":"stepped","step":2,"epoch":0,"batch":0,"loss":0.25,"rate":0.1}
	// {"event":"ended","step":2,"epoch":0,"batch":0}
	// 4 0.25
}
