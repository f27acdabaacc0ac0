package modelfile

import (
	"regexp"
	"strings"
	"testing"

	"poise/servo/model"
)

const cpf = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE properties SYSTEM "cpf.dtd">
<properties>
  <struct name="default_servo_model" type="/sweetie_bot_servo_model_msg/ServoModel">
    <simple name="name" type="string"><value>default</value></simple>
    <simple name="kp" type="double"><value>100.0</value></simple>
    <simple name="kgear" type="double"><value>1.0</value></simple>
    <struct name="alpha" type="double">
      <simple name="Element0" type="double"><value>1.3887</value></simple>
      <simple name="Element1" type="double"><value>52.0818</value></simple>
      <simple name="Element2" type="double"><value>7.0933</value></simple>
      <simple name="Element3" type="double"><value>53.00</value></simple>
    </struct>
  </struct>
  <simple name="period" type="double"><value>0.056</value></simple>
  <struct name="servo_models" type="/sweetie_bot_servo_model_msg/ServoModel[]">
    <struct name="Element0" type="/sweetie_bot_servo_model_msg/ServoModel">
      <simple name="name" type="string"><value>leg1_joint3</value></simple>
      <simple name="kp" type="double"><value>100.0</value></simple>
      <simple name="kgear" type="double"><value>1.54</value></simple>
      <struct name="alpha" type="double">
        <simple name="Element0" type="double"><value>2.1095</value></simple>
        <simple name="Element1" type="double"><value>53.9546</value></simple>
        <simple name="Element2" type="double"><value>12.5499</value></simple>
        <simple name="Element3" type="double"><value>234.9008</value></simple>
      </struct>
    </struct>
  </struct>
</properties>
`

// nimbro is a part of the configuration of a NimbRo-OP.
const nimbro = `
gait: {effort: 0.4}
robotcontrol:
  cycle_ms: 8
  joints:
    left_knee_pitch: {id: 14, invert: 0, readFeedback: 1, type: MX-106}
  models:
    MX-106:
      km: 0.17
      stribeckOne: -0.0023
      stribeckTwo: 0.0250731405677264
      viscuous: 0.553952330165401
  useModel: 1
`

var strong = [6]float64{2.1095, 53.9546, 12.5499, 234.9008}

// TestEveryFormLoads: the forms in which models are written down become one.
func TestEveryFormLoads(t *testing.T) {
	for _, c := range []struct {
		file, text, find string
		want             model.Model
	}{
		{"m.yaml", "{kp: 100, gear: 1, ks: 37, lead: 0.02, dead_zone: 0.05, voltage: 12, parameters: {a0: 2.1095, a1: 53.9546, a2: 12.5499, a3: 234.9008, a4: 3, a5: -1, vs: 0.1}}", "anything",
			model.Model{Kp: 100, Gear: 1, Saturation: 37, Lead: 0.02, DeadZone: 0.05, Voltage: 12, A: [6]float64{2.1095, 53.9546, 12.5499, 234.9008, 3, -1}, Speed: 0.1}},
		{"several.yaml", "knee: {kp: 100, parameters: {a3: 200}}\nhip: {kp: 50, parameters: {a3: 100}}", "hip",
			model.Model{Kp: 50, DeadZone: model.DefaultDeadZone, A: [6]float64{3: 100}}},
		{"robot.yaml", "name: r\nservo_models:\n  drs: {kp: 230, voltage: 12, effort: 2.35, resolution: 0.0057, parameters: {a3: 200}}", "drs",
			model.Model{Kp: 230, Voltage: 12, Effort: 2.35, Quantum: 0.0057, DeadZone: model.DefaultDeadZone, A: [6]float64{3: 200}}},
		{"message.json", `{"name":"joint11","kp":100,"kgear":1.54,"alpha":[2.1095,53.9546,12.5499,234.9008]}`, "joint11",
			model.Model{Kp: 100, Gear: 1.54, DeadZone: model.DefaultDeadZone, A: strong}},
		{"list.json", `{"models":[{"name":"a","kp":1,"kgear":1,"alpha":[0,0,0,1]},{"name":"b","kp":2,"kgear":1,"alpha":[0,0,0,1,0,0.5],"ks":37}]}`, "b",
			model.Model{Kp: 2, Gear: 1, Saturation: 37, DeadZone: model.DefaultDeadZone, A: [6]float64{3: 1, 5: 0.5}}},
		{"servo_models.cpf", cpf, "leg1_joint3", model.Model{Kp: 100, Gear: 1.54, DeadZone: model.DefaultDeadZone, A: strong}},
		{"config.yaml", nimbro, "left_knee_pitch", model.Model{Kp: 16.0 / 15, Voltage: 15, Gear: 1, DeadZone: model.DefaultDeadZone,
			A: [6]float64{0, 0.553952330165401, -0.0023, 0.17, 0.0250731405677264 + 0.0023, 0}, Speed: 0.1}},
	} {
		s, err := Read([]byte(c.text), c.file)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		m, ok := s.Find(c.find)
		if !ok || m.Model != c.want {
			t.Errorf("%s: %q is %+v, want %+v", c.file, c.find, m, c.want)
		}
	}
	s, err := Read([]byte(cpf), "servo_models.cpf")
	if err != nil || s.Default == nil || s.Default.Model.A[3] != 53 || len(s.Names()) != 1 {
		t.Errorf("default of the property file: %+v, %v", s, err)
	}
}

// TestModelsInsideOtherStructsAreRead: a list of models has other types in other versions of OROCOS.
func TestModelsInsideOtherStructsAreRead(t *testing.T) {
	for _, kind := range []string{"sequence", "array", "ServoModelList"} {
		text := regexp.MustCompile(`type="[^"]*ServoModel\[\]"`).ReplaceAllString(cpf, `type="`+kind+`"`)
		if text == cpf {
			t.Fatal("the file has no list")
		}
		s, err := Read([]byte(text), "m.cpf")
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		} else if m, ok := s.Find("leg1_joint3"); !ok || m.Model.A != strong || s.Default == nil {
			t.Errorf("a list of type %q: %+v", kind, s)
		}
	}
}

// TestNimbroMeansTheSame: the command that NimbRo's formula gives is the goal of the model.
func TestNimbroMeansTheSame(t *testing.T) {
	s, err := Read([]byte(nimbro), "config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := s.Find("MX-106")
	if k := m.Model.FullStiffness(15); k < 94.1 || k > 94.2 {
		t.Errorf("stiffness at full effort and 15 V is %g N·m/rad, want 16/0.17", k)
	}
	// 15/V · 2/32 · (km·τ + viscuous·q̇ + …) at 1 rad/s, where the Stribeck part is gone
	g := m.Model.Invert(model.Motion{Position: 0.3, Velocity: 1, Effort: 2}, 14)
	want := 0.3 + 15.0/14*2/32*(0.17*2+0.553952330165401-0.0023)
	if d := g.Position - want; d > 1e-5 || d < -1e-5 {
		t.Errorf("goal %g, want %g", g.Position, want)
	}
}

func TestBadModelsAreToldWithLineValueAndLimit(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"m.yaml", "kp: 100\nvoltage: 12\nparameters:\n  a1: -5\n  a3: 200\n", "m.yaml:4: servo model: parameters.a1 is -5, must not be negative"},
		{"m.yaml", "kp: 0\nparameters: {a3: 200}\n", "m.yaml:1: servo model: kp is 0, must be above 0"},
		{"m.yaml", "kp: 100\ngear: 0\nparameters: {a3: 200}\n", "m.yaml:2: servo model: gear is 0, must be above 0"},
		{"m.yaml", "kp: 100\nks: 1.0e-9\nparameters: {a3: 200}\n", "ks/kp, is 1e-11 rad, want 1e-05"},
		{"m.cpf", strings.Replace(cpf, "1.54", "0", 1), "m.cpf:20: servo model \"leg1_joint3\": kgear is 0, must be above 0"},
		{"m.yaml", "kp: 100\nparameters: {a3: 200}\nkgear: 2\n", `m.yaml:3: unknown key "kgear"`},
		{"m.yaml", "kp: .nan\nparameters: {a3: 200}\n", "m.yaml:1: kp"},
		{"m.yaml", "knee:\n  kp: 100\n  lead: 56\n  parameters: {a3: 200}\n", `m.yaml:3: servo model "knee": lead is 56, at most 1`},
		{"m.yaml", "", "m.yaml:1: a servo model is wanted"}, {"m.yaml", "{}", "m.yaml:1: has no servo model"},
		{"m.yaml", "[1, 2]", "is no servo model"},
		{"m.yaml", "knee: 3", `servo model "knee": has neither kp nor km`},
		{"m.json", `{"name":"a","kp":1,"kgear":1,"alpha":[0,0,1]}`, `servo model "a": alpha has 3 numbers, want 4`},
		{"m.json", `[{"name":"a","kp":1,"kgear":1,"alpha":[0,0,0,1]},` + "\n" + `{"name":"a","kp":1,"kgear":1,"alpha":[0,0,0,1]}]`, `m.json:2: servo model "a": is named twice: on lines 1 and 2`},
		{"m.cpf", strings.Replace(cpf, "1.54", "-1.54", 1), "m.cpf:20: servo model \"leg1_joint3\": gear is -1.54, must not be negative"},
		{"m.cpf", strings.Replace(cpf, "53.9546", "nought", 1), `m.cpf:23: servo model "leg1_joint3": Element1: a number is wanted, not "nought"`},
		{"m.cpf", strings.Replace(cpf, "234.9008", "NaN", 1), "parameters.a3 is NaN"},
		{"m.cpf", strings.Replace(cpf, `<!DOCTYPE properties SYSTEM "cpf.dtd">`, `<!DOCTYPE properties [<!ENTITY x "y">]>`, 1), "document types"},
		{"m.cpf", "<robot/>", "root element is not <properties>"},
		{"m.cpf", "<properties/>", "has no servo model"},
		{"config.yaml", strings.Replace(nimbro, "km: 0.17", "km: 0", 1), "config.yaml:9: servo model \"MX-106\": parameters.a3 is 0, must be above 0"},
		{"config.yaml", "robotcontrol: {joints: {}}", "has no models"},
	} {
		if _, err := Read([]byte(c.text), c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q:\n%v\nwant %q", c.file, c.text[:min(len(c.text), 40)], err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{cpf, nimbro, "{kp: 1, parameters: {a3: 1}}", `[{"name":"a","kp":1,"kgear":1,"alpha":[0,0,0,1]}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(data, "f")
		if err != nil {
			return
		}
		for _, m := range s.Models {
			if wrong := m.Model.Check(); wrong != nil {
				t.Errorf("a model that was read: %v", wrong)
			}
		}
	})
}
