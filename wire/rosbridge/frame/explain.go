package frame

import (
	"encoding/json"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

// AppendExplanations writes a list of explanations; nothing if there are none.
func AppendExplanations(b []byte, all []poisemsgs.Explanation) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(b, '[')
	for i := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = rosjson.Append(b, &all[i], msgs.ROS2)
	}
	return append(b, ']')
}

// ReadExplanations reads what AppendExplanations wrote; an empty text has no explanations.
func ReadExplanations(text []byte) ([]poisemsgs.Explanation, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	all := make([]poisemsgs.Explanation, len(list))
	for i, one := range list {
		if err := rosjson.Unmarshal(one, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
