package text_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/train/data/text"
)

func ExampleTokeniser() {
	words := text.Tokeniser{Words: true, Lower: true, MinCount: 2, Unknown: "?"}
	v, err := words.Vocabulary("We the People of the United States, in Order to form a more perfect Union of the States")
	if err != nil {
		log.Fatal(err)
	}
	codes, err := v.Encode("The people of the states")
	if err != nil {
		log.Fatal(err)
	}
	again, err := v.Decode(codes)
	form, _ := json.Marshal(v)
	fmt.Println(codes, again, err)
	fmt.Println(string(form))
	// Output: [0 3 1 0 2] the ? of the states <nil>
	// {"words":true,"lower":true,"min_count":2,"unknown":"?","tokens":["the","of","states","?"],"counts":[3,2,2,11]}
}

func ExampleVocabulary_Encode() {
	v, err := text.Characters("hello")
	if err != nil {
		log.Fatal(err)
	}
	codes, err := v.Encode("hole")
	fmt.Println(v.Tokens(), codes, err)
	_, err = v.Encode("halo")
	fmt.Println(err)
	// Output:
	// [e h l o] [1 3 2 0] <nil>
	// line 1: byte 1: "a" is not in the vocabulary; Tokeniser.Unknown would stand for it
}
