@I.ir_module(.ir_m]du
  )
u 
