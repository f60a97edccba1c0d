# Writes casts.json beside it: numbers and what NumPy and PyTorch round them to.
import numpy as np, torch, gzip, json
rng=np.random.default_rng(1)
a=np.concatenate([rng.standard_normal(60), rng.standard_normal(60)*1e-5, rng.standard_normal(60)*1e-7, rng.uniform(-7e4,7e4,60),
  np.array([65504,65519.99,65520,65535,-65520,5.9604644775390625e-08,2.98023223876953125e-08,2.9802322387695312e-08*(1+1e-12),6.1e-5,6.103515625e-05,0.0,-0.0,np.inf,-np.inf,np.nan,
  1+2**-11,1+2**-11+2**-40,1+3*2**-11,1+2**-8,1+2**-8+2**-40,1+3*2**-8,3.3895313892515355e38,3.39e38,3.4e38,1e-40,9.2e-41,4.6e-41,1e300,-1e300,255.5,256,-1,-129,127.9,1e10]),
  rng.standard_normal(40)*1e38, rng.standard_normal(40)*1e-39])
with np.errstate(all='ignore'):
    f16=a.astype(np.float16).astype(np.float64)
    f32=a.astype(np.float32)
b=torch.tensor(f32).to(torch.bfloat16).to(torch.float64).numpy()
fmt=lambda v: [x.hex() if x==x and abs(x)!=float('inf') else str(x) for x in map(float,v)]
out={'source':'numpy %s float64->float16 (float16), torch %s float32->bfloat16 (bfloat16)'%(np.__version__,torch.__version__),
 'x':fmt(a),'float16':fmt(f16),'x32':fmt(f32.astype(np.float64)),'bfloat16':fmt(b)}
json.dump(out,open('casts.json','w'),indent=0)
